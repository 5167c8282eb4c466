// The documents of Wavecast, as far as the views read them: `wavecast schema ranking` and `wavecast schema
// explanation` say all that they hold.

export type Shape = [number, number, number];

export interface Config {
  variant: string | null;
  block: Shape;
  fold: Shape;
}

export interface LaunchConfig extends Config {
  grid: Shape;
  registers: number | null;
  shared_bytes: number;
}

export interface Warning {
  code: string;
  message: string;
}

/** Seconds of each part of the time; the longest of the resources counts, the rest is added. */
export type Terms = Record<
  | "fp" | "l1" | "l2" | "dram" | "latency" | "waits" | "issue" | "tail" | "launch" | "tlb" | "dispatch" | "combination",
  number
>;

/** Bytes of one work item at each boundary. */
export interface Volumes {
  l1: { wavefront_cycles: number; data_wavefronts: number; tag_wavefronts: number; load_bytes: number; store_bytes: number };
  l2: { load: { compulsory: number; capacity: number; total: number }; store: { total: number } };
  dram: {
    load: {
      compulsory: number;
      reuse_x: number;
      reuse_y: number;
      reuse_z: number;
      reuse_launch: number;
      capacity: number;
      partial_store_fill: number;
      total: number;
    };
    store: { compulsory: number; redundant: number; total: number };
  };
}

export interface Result {
  rank: number;
  tie_group: number;
  config: LaunchConfig;
  rate_per_s: number;
  time_s: number;
  relative: number | null;
  limiter: string;
  time_terms_s: Terms;
  occupancy: { blocks_per_sm: number; warps_per_sm: number; fraction: number; limited_by: string; wave_blocks: number; waves: number };
  volumes: Volumes;
  confidence: { time_interval_s: [number, number] | null; level: number | null; because: string[] };
  warnings: Warning[];
}

export interface Rejected {
  config: Config;
  reason: string;
  code: string;
}

export interface Head {
  tool: { name: string; version: string };
  kernel: { name: string; unit: string; domain: number[]; params: Record<string, number> };
  device: { id: string; name: string };
  model: { id: string; addressing: string; caches: string; clock?: string; curves: string };
}

export interface Ranking extends Head {
  schema: string;
  summary: { candidates: number; feasible: number; tie_error: number };
  results: Result[];
  infeasible: Rejected[];
  warnings: Warning[];
}

export interface Sentence {
  code: string;
  text: string;
}

/** A ranking and, for its best launches in their order, the sentences that explain each. */
export interface Explained {
  ranking: Ranking;
  sentences: Sentence[][];
}

/** What a report holds. */
export interface Report {
  schema: string;
  rankings: Explained[];
}

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
  | "fp" | "l1" | "l2" | "dram" | "latency" | "waits" | "issue" | "fetch" | "tail" | "launch" | "tlb" | "dispatch" | "combination",
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
  /** Work items a second that each level allows by itself. */
  limits_per_s: Partial<Record<"fp" | "l1" | "l2" | "dram", number>>;
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

/** A step of a staircase of occupancy. */
export interface Step {
  up_to: number;
  blocks_per_sm: number;
}

export interface Staircase {
  warps_per_block: number;
  max_warps: number;
  registers: Step[];
  shared_bytes: Step[];
}

/** What an instruction of a thread costs, for a work item. */
export interface Access {
  position: number;
  kind: string;
  field: string;
  at: string;
  cycles: number;
  sectors_per_request: number | null;
  efficiency: number | null;
  alone: { l2_bytes: number; dram_bytes: number; rate_per_s: number } | null;
}

/** What loads of a level are made of, for a work item. */
export interface LoadParts {
  unavoidable: number;
  lost_x: number;
  lost_y: number;
  lost_z: number;
  lost_within: number;
  fill: number;
}

export interface MemoryLevel {
  level: string;
  load_bytes: number;
  store_bytes: number;
  time_s: number | null;
  loads: LoadParts | null;
  cache: { capacity_bytes: number; oversubscription: number; miss: number } | null;
}

/** What an explanation adds to a result. */
export interface Details {
  accesses: Access[];
  levels: MemoryLevel[];
  staircase: Staircase;
}

export interface Neighbour extends Config {
  rate_per_s: number;
  relative: number;
  limiter: string;
  occupancy: number;
  change: { l1_cycles: number; l2_load_bytes: number; dram_load_bytes: number };
}

export interface Explanation extends Head, Details {
  schema: string;
  result: Result;
  sentences: Sentence[];
  neighbours: { compared: number; rejected: number; near: Neighbour[]; best: Neighbour | null };
  warnings: Warning[];
}

/** A series. */
export interface Sweep extends Head {
  schema: string;
  vary: { name: string; kind: string; values: (number | string)[]; unit: string | null }[];
  best: boolean;
  points: {
    values: Record<string, number | string | number[]>;
    config: Config | null;
    result?: Result;
    error?: { message?: string; reason?: string } | null;
  }[];
  warnings: Warning[];
}

export interface DifferenceSide {
  kernel: string;
  unit: string;
  device: string;
  variant: string | null;
  block: Shape;
  fold: Shape;
  rate_per_s: number;
  time_s: number;
  limiter: string;
}

/** `wavecast/diff/1`. */
export interface Difference {
  tool: Head["tool"];
  a: DifferenceSide;
  b: DifferenceSide;
  verdict: string;
  terms: { term: string; a_s: number; b_s: number; share: number | null }[];
}

/** A ranking and, for its best launches in their order, the sentences that explain each. */
export interface Explained {
  ranking: Ranking;
  sentences: Sentence[][];
  /** What the first of them are made of. */
  details: (Details | null)[];
}

/** What a report holds: rankings, or documents with their table and the pictures of the command line. */
export interface Report {
  schema: string;
  view: "ranking" | "explanation" | "sweep" | "prediction" | "difference" | "table";
  title?: string;
  rankings?: Explained[];
  documents?: unknown[];
  table?: { columns: [string, boolean][]; rows: string[][] };
  pictures?: string[];
}

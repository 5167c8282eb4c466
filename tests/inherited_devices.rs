//! A file of somebody's own that inherits a device is that device, as far as it says nothing else: its curves hold, and
//! numbers change alike by a file, by `--device-set` and by the clock of a run.

use wavecast::device::{Device, find, read};
use wavecast::kernel::{Kernel, load};
use wavecast::predict::Summary;
use wavecast::{Candidate, Estimator};

/// A file that inherits the A100.
fn file(numbers: &str, set: &[String]) -> Device {
    let text = format!(
        "wavecast-device: 1\nid: mine\nname: mine\ninherit: a100\naliases: []\nabout: x\n\
         sources:\n  me: {{kind: measured, text: x}}\n{numbers}\n"
    );
    read("mine.yaml", &text, set).unwrap_or_else(|e| panic!("{e}"))
}

fn kernel() -> Kernel {
    let text = "{wavecast: 1, kernel: k, fields: {a: {dtype: f64, shape: [640, 512, 64]}, b: {like: a}},
        domain: {x: 640, y: 512, z: 64}, loads: ['a[x, y, z]', 'a[x, y + 1, z]', 'a[x + 1, y, z]'],
        stores: ['b[x, y, z]'], work: {flops: 8}, launch: {registers: 32}}";
    load("k", text, &Default::default()).unwrap().kernels.remove(0)
}

fn predictions(device: &Device) -> Vec<Summary> {
    let kernel = kernel();
    let estimator = Estimator::new(&kernel, device);
    let of = |block| Summary::clone(&estimator.predict(Candidate::new(block, [1; 3]).unwrap()).unwrap());
    [[32, 4, 2], [256, 1, 1], [8, 8, 8]].map(of).into()
}

fn curves(device: &Device) -> String {
    let kernel = kernel();
    Estimator::new(&kernel, device).curves.name()
}

#[test]
fn a_file_that_changes_nothing_is_the_device() {
    let (own, inherited) = (find("a100", &[]).unwrap(), file("", &[]));
    assert_eq!(predictions(&inherited), predictions(&own));
    assert_eq!(curves(&inherited), curves(&own));
}

#[test]
fn files_and_changes_agree_to_the_last_bit() {
    let own = predictions(&find("a100", &[]).unwrap());
    for (numbers, set) in [
        ("clock: {value: 1.2 GHz, source: me}", "clock=1.2 GHz"),
        ("dram:\n  bandwidth: {value: 1210 GB/s, source: me}", "dram.bandwidth=1210 GB/s"),
        ("dram:\n  latency: {value: 1700 cycles, source: me}", "dram.latency=1700 cycles"),
        ("dispatch:\n  block_cycles: {value: 900 cycles, source: me}", "dispatch.block_cycles=900 cycles"),
        ("launch_overhead: {value: 31 us, source: me}", "launch_overhead=31 us"),
        ("l2:\n  effective: {value: 5 MiB, source: me}", "l2.effective=5 MiB"),
    ] {
        let changed = predictions(&find("a100", &[set.to_owned()]).unwrap());
        assert_eq!(predictions(&file(numbers, &[])), changed, "{set}");
        assert_eq!(predictions(&file("", &[set.to_owned()])), changed, "{set}");
        assert_ne!(changed, own, "{set}");
    }
    // What is asked of a file goes from the device that it inherits, too.
    let twice =
        file("dram:\n  bandwidth: {value: 1210 GB/s, source: me}", &["dram.bandwidth=900 GB/s".to_owned()]);
    assert_eq!(
        predictions(&twice),
        predictions(&find("a100", &["dram.bandwidth=900 GB/s".to_owned()]).unwrap())
    );
}

#[test]
fn the_clock_of_a_run_is_that_of_a_file_with_what_follows_from_it() {
    let run = find("a100", &[]).unwrap().at_clock("1.2GHz".parse().unwrap());
    let own = file("", &[]).at_clock("1.2GHz".parse().unwrap());
    assert_eq!(predictions(&own), predictions(&run));
    let numbers = format!(
        "clock: {{value: 1.2 GHz, source: me}}\nl2:\n  bandwidth: {{value: {} B/s, source: me}}\n\
         dram:\n  latency: {{value: {} cycles, source: me}}",
        run.l2().bandwidth().value().0,
        run.dram().latency().value().0
    );
    assert_eq!(predictions(&file(&numbers, &[])), predictions(&run));
}

#[test]
fn devices_without_curves_have_none_to_leave() {
    let text =
        "{wavecast-device: 1, id: mine, name: mine, inherit: gh200, aliases: [], about: x, sources: {}}";
    let inherited = read("mine.yaml", text, &[]).unwrap();
    assert_eq!(predictions(&inherited), predictions(&find("gh200", &[]).unwrap()));
    assert_eq!(curves(&inherited), "inherited from h100-sxm");
}

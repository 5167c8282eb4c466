//! What a person reads who made a mistake: every document in `tests/bad/` is refused, and each error
//! names the place, the cause and what to do.

use wavecast::kernel::load;
use wavecast::report::render_fault;

#[test]
fn every_mistake_gets_an_error_to_act_on() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bad");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|e| {
            e.unwrap().file_name().into_string().unwrap().strip_suffix(".yaml").map(str::to_owned)
        })
        .collect();
    names.sort();
    assert!(names.len() >= 20);
    for name in names {
        let file = format!("{name}.yaml");
        let text = std::fs::read_to_string(format!("{folder}/{file}")).unwrap();
        let fault = load(&file, &text, &Default::default()).expect_err(&file);
        let rendered = anstream::adapter::strip_str(&render_fault(&fault)).to_string();
        insta::with_settings!({description => text, omit_expression => true}, {
            insta::assert_snapshot!(name, rendered);
        });
    }
}

fn main() {
    let a: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&a[1]).unwrap();
    let c = wavecast::ptx::Compiled::new(&a[1], &text).unwrap_or_else(|e| {
        println!("{e}");
        std::process::exit(2)
    });
    let mut g = wavecast::ptx::Given::default();
    let mut i = 3;
    while i < a.len() {
        match a[i].as_str() {
            "--arg" => g.args.push(a[i + 1].clone()),
            "--grid" => g.grid = Some(a[i + 1].clone()),
            "--trips" => g.trips.push(a[i + 1].clone()),
            "--block" => {
                let v: Vec<i64> = a[i + 1].split(',').map(|x| x.parse().unwrap()).collect();
                g.blocks.push([v[0], *v.get(1).unwrap_or(&1), *v.get(2).unwrap_or(&1)])
            }
            _ => panic!(),
        }
        i += 2;
    }
    let t = std::time::Instant::now();
    match c.read(Some(&a[2]), &g) {
        Ok(r) => {
            for x in &r.accesses {
                if x.status != "exact" || r.document.is_none() {
                    println!(
                        "{} {} {:?} when {:?} loops {:?} {} {:?}",
                        x.line, x.op, x.address, x.when, x.loops, x.status, x.why
                    )
                }
            }
            println!("{}", r.document.unwrap_or_default());
        }
        Err(e) => println!("{e}"),
    }
    eprintln!("{:?}", t.elapsed());
}

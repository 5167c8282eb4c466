//! Which configurations are scored together, and which of them are looked at.

use std::collections::{BTreeSet, HashMap};

use super::config::Configs;
use super::plan::Plan;
use super::set::{ScopeKind, SetScope};
use crate::random::Random;
use crate::sorting;

/// How many are drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    pub(super) most: Option<usize>,
    pub(super) seed: u64,
}

/// The scopes of a set, and the configurations that are looked at in any of them. Scopes name these by their
/// position.
pub(super) fn scopes(plan: &Plan, configs: &Configs, draw: Draw) -> (Vec<SetScope>, Vec<usize>) {
    let all = 0..configs.all.len();
    let groups = configs.groups.len();
    let mut found: Vec<(ScopeKind, String, Vec<usize>)> = Vec::new();
    if groups > 1 {
        let mut members = vec![Vec::new(); groups];
        for i in all.clone() {
            members[configs.all[i].group].push(i);
        }
        for (group, members) in members.into_iter().enumerate() {
            found.push((ScopeKind::Group, configs.groups.text(group).to_owned(), members));
        }
    } else {
        found.push((ScopeKind::All, String::new(), all.clone().collect()));
    }
    let drawn: Vec<Vec<usize>> = found.iter().map(|(_, _, members)| drawn(configs, members, draw)).collect();
    let mut scopes: Vec<(ScopeKind, String, Vec<usize>, Vec<usize>)> =
        found.into_iter().zip(drawn).map(|((kind, name, all), drawn)| (kind, name, all, drawn)).collect();
    if groups > 1 {
        let together = scopes.iter().flat_map(|s| s.3.iter().copied()).collect();
        scopes.push((ScopeKind::All, String::new(), all.clone().collect(), together));
    }
    for (part, (name, _)) in plan.parts.iter().enumerate() {
        let members: Vec<usize> = all.clone().filter(|&i| configs.all[i].parts[part]).collect();
        let some = self::drawn(configs, &members, draw);
        scopes.push((ScopeKind::Part, name.clone(), members, some));
    }
    let chosen: BTreeSet<usize> = scopes.iter().flat_map(|s| s.3.iter().copied()).collect();
    let chosen: Vec<usize> = chosen.into_iter().collect();
    let place = |i: &usize| chosen.binary_search(i).expect("all that were drawn are there");
    let scope = |(kind, name, members, drawn): (ScopeKind, String, Vec<usize>, Vec<usize>)| SetScope {
        kind,
        name,
        cases: drawn.iter().map(place).collect(),
        configurations: members.len(),
        repeated: repeated(configs, &members),
    };
    let scopes = scopes.into_iter().map(scope).collect();
    (scopes, chosen)
}

/// Some of them by chance, the same for a seed whatever the order of the rows. Of several problems some are drawn whole,
/// so that there are choices to be made.
fn drawn(configs: &Configs, members: &[usize], draw: Draw) -> Vec<usize> {
    let mut some = members.to_vec();
    let Some(most) = draw.most.filter(|&most| most < some.len()) else { return some };
    let key = |&i: &usize| {
        let config = &configs.all[i];
        (configs.problems.text(config.problem), configs.names.text(config.name))
    };
    sorting::sort_by(&mut some, |a, b| key(a).cmp(&key(b)));
    let mut random = Random::new(draw.seed);
    random.shuffle(&mut some);
    let mut problems: Vec<usize> = some.iter().map(|&i| configs.all[i].problem).collect();
    problems.sort_unstable();
    problems.dedup();
    if problems.len() > 1 {
        sorting::sort_by(&mut problems, |&a, &b| configs.problems.text(a).cmp(configs.problems.text(b)));
        random.shuffle(&mut problems);
        let turn: HashMap<usize, usize> =
            problems.into_iter().enumerate().map(|(turn, p)| (p, turn)).collect();
        sorting::sort_by_key(&mut some, |&i| turn[&configs.all[i].problem]);
    }
    some.truncate(most);
    some.sort_unstable();
    some
}

/// The first two times of configurations that have several.
fn repeated(configs: &Configs, members: &[usize]) -> Vec<(f64, f64)> {
    let pair = |&i: &usize| match configs.all[i].times[..] {
        [first, second, ..] => Some((first, second)),
        _ => None,
    };
    members.iter().filter_map(pair).collect()
}

//! The loop on the processor that results are compared with.

use super::device::{Named, conditions, kernel_name, shared_arrays};
use super::expression::Writer;
use super::plan::{Node, Plan};
use super::refuse::Unemitted;
use super::statements::Statements;
use super::text::Text;
use crate::expr::{Coord, LoopId};
use crate::kernel::Kernel;
use crate::space::Fold;

/// The name of the function of a fold.
pub(super) fn reference_name(writer: Writer<'_>, plain: bool, fold: Fold) -> String {
    if plain { "reference".to_owned() } else { format!("reference_{}", kernel_name(writer, fold)) }
}

/// Work items one after the other, without folds, blocks and threads: where a kernel knows nothing else.
pub(super) fn of_items(
    kernel: &Kernel,
    plan: &Plan,
    writer: Writer<'_>,
    real: &'static str,
) -> Result<String, Unemitted> {
    let statements = Statements { kernel, plan, writer, real, returned: true };
    let mut text = Text::default();
    text.line("// The work items of a block, one after the other.");
    text.open("static void reference(const launch *how, const index_t *bid, real *sum, real *last, unsigned char *shared) {");
    text.line("index_t from[3], to[3];");
    text.open("for (int d = 0; d < 3; d++) {");
    text.line("from[d] = bid[d] * how->block[d] * how->fold[d];");
    text.line("to[d] = from[d] + how->block[d] * how->fold[d];");
    text.close("}");
    text.line("(void)last, (void)shared;");
    text.open("for (index_t tidz = from[2]; tidz < to[2]; tidz++)");
    text.open("for (index_t tidy = from[1]; tidy < to[1]; tidy++)");
    text.open("for (index_t tidx = from[0]; tidx < to[0]; tidx++) {");
    text.line(&format!("if (!({})) continue;", statements.working(0).join(" && ")));
    text.line("sum[0] = start;");
    statements.nodes(&plan.nodes, &mut text)?;
    text.close("}");
    text.close("");
    text.close("");
    text.close("}");
    // Lines that only end an indentation.
    Ok(text.finish().replace("\n\n", "\n"))
}

/// The threads of a block, one after the other between barriers; none where a thread could pass a barrier
/// more often than another.
pub(super) fn of_threads(
    kernel: &Kernel,
    plan: &Plan,
    writer: Writer<'_>,
    real: &'static str,
) -> Result<Option<String>, Unemitted> {
    let statements = Statements { kernel, plan, writer, real, returned: false };
    let items = plan.sums;
    let mut body = Text::default();
    body.open("");
    shared_arrays(kernel, writer, &mut body);
    body.open(
        "for (index_t i = 0; i < how->block[0] * how->block[1] * how->block[2] * ITEMS; i++)"
            .replace("ITEMS", &items.to_string())
            .as_str(),
    );
    body.line("sums[i] = lasts[i] = start;");
    body.close("");
    if !regions(&statements, &plan.nodes, &mut body)? {
        return Ok(None);
    }
    let body = body.finish();
    let mut text = Text::default();
    let name = reference_name(writer, false, plan.program.fold);
    text.line("// The threads of a block, one after the other between barriers.");
    text.open(&format!(
        "static void {name}(const launch *how, const index_t *bid, real *sums, real *lasts, unsigned char *shared) {{"
    ));
    text.line("const index_t bdimx = how->block[0], bdimy = how->block[1], bdimz = how->block[2];");
    for (i, letter) in ['x', 'y', 'z'].into_iter().enumerate() {
        let named = |prefix: &str| Named::has(&body, &format!("{prefix}{letter}"));
        if named("bid") || named("tid") {
            text.line(&format!("const index_t bid{letter} = bid[{i}];"));
        }
        if named("gdim") {
            text.line(&format!("const index_t gdim{letter} = how->grid[{i}];"));
        }
    }
    text.line("(void)bid, (void)shared;");
    let whole = text.finish() + body.trim_start_matches('\n') + "}\n";
    Ok(Some(whole.replace("\n\n", "\n")))
}

/// Statements cut at barriers; false where that cannot be done.
fn regions(statements: &Statements<'_>, nodes: &[Node], text: &mut Text) -> Result<bool, Unemitted> {
    for part in nodes.chunk_by(|a, b| !a.syncs() && !b.syncs()) {
        match part {
            [Node::Sync] => {}
            [Node::Loop(id, body)] if part.iter().any(Node::syncs) => {
                if !is_uniform(statements, *id) {
                    return Ok(false);
                }
                text.open(&statements.loop_head(usize::from(id.0)));
                if !regions(statements, body, text)? {
                    return Ok(false);
                }
                text.close("}");
            }
            _ => threads(statements, part, text)?,
        }
    }
    Ok(true)
}

/// Whether all threads of a block run a loop alike.
fn is_uniform(statements: &Statements<'_>, LoopId(id): LoopId) -> bool {
    let thread = |c: Coord| matches!(c, Coord::Thread(_) | Coord::ThreadIdx(_));
    let range = &statements.plan.program.loops[usize::from(id)];
    !range.from.mentions(&thread) && !range.to.mentions(&thread)
}

/// Statements between barriers, for all threads.
fn threads(statements: &Statements<'_>, nodes: &[Node], text: &mut Text) -> Result<(), Unemitted> {
    let mut inner = Text::default();
    conditions(statements, &mut inner);
    statements.nodes(nodes, &mut inner)?;
    let inner = inner.finish();
    let items = statements.plan.sums;
    text.open("for (index_t lidz = 0; lidz < bdimz; lidz++)");
    text.open("for (index_t lidy = 0; lidy < bdimy; lidy++)");
    text.open("for (index_t lidx = 0; lidx < bdimx; lidx++) {");
    for (name, all) in [("sum", "sums"), ("last", "lasts")] {
        if Named::has(&inner, name) {
            text.line(&format!("real *{name} = {all} + {items}*(lidx + bdimx*(lidy + bdimy*lidz));"));
        }
    }
    for letter in ['x', 'y', 'z'] {
        if Named::has(&inner, &format!("tid{letter}")) {
            text.line(&format!("const index_t tid{letter} = bid{letter}*bdim{letter} + lid{letter};"));
        }
    }
    for line in inner.lines() {
        text.line(line);
    }
    text.close("}");
    text.close("");
    text.close("");
    Ok(())
}

//! Code that documents have: where its text comes from.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use super::registers::CodeRegisters;
use crate::kernel::{CodeRead, CodeRequest, ReadCode};
use crate::ptx::Compiled;
use crate::space::Block;
use crate::text::{Diagnostic, Sources, Spanned, read_regular};

/// Reads the code of documents, each text once.
pub(super) struct CodeReader<'a> {
    /// The folder that paths start in; none where documents may name no files.
    pub folder: Option<&'a PathBuf>,
    /// Bytes of the longest text.
    pub most: usize,
    /// Blocks to read it for, if others are meant than those of the document.
    pub blocks: &'a [Block],
    /// Where the numbers of registers come from.
    pub registers: &'a CodeRegisters,
    /// What was parsed, by paths and texts, with the texts.
    pub parsed: RefCell<BTreeMap<String, Rc<(Compiled, String)>>>,
}

impl CodeReader<'_> {
    fn compiled(
        &self,
        ptx: &Spanned<String>,
        sources: &mut Sources,
    ) -> Result<Rc<(Compiled, String)>, Diagnostic> {
        if let Some(known) = self.parsed.borrow().get(&ptx.value) {
            return Ok(Rc::clone(known));
        }
        let (name, text) = text_of(ptx, self.folder, self.most)?;
        let compiled = Rc::new((Compiled::parsed(&name, &text, sources)?, text));
        self.parsed.borrow_mut().insert(ptx.value.clone(), Rc::clone(&compiled));
        Ok(compiled)
    }
}

/// Name and text of what a document gives as PTX: a path, or the text itself, which has more than one line.
pub(super) fn text_of(
    ptx: &Spanned<String>,
    folder: Option<&PathBuf>,
    most: usize,
) -> Result<(String, String), Diagnostic> {
    if ptx.value.contains('\n') {
        return Ok(("the PTX of the document".to_owned(), ptx.value.clone()));
    }
    let shown = crate::text::shorten(&ptx.value);
    let Some(folder) = folder else {
        let message = format!("`{shown}` is a file, and documents that come without one may name none");
        let error = Diagnostic::error("files-not-allowed", ptx.span, message);
        return Err(error.help("give the text of the PTX itself: `ptx: |` and its lines"));
    };
    let path = folder.join(&ptx.value);
    match read_regular(&path, most) {
        Ok(text) => Ok((path.display().to_string(), text)),
        Err(e) => {
            let message = format!("cannot read {}: {e}", path.display());
            let help = "paths are seen from the folder of the document; the text of the PTX may also stand here itself";
            Err(Diagnostic::error("cannot-read", ptx.span, message).help(help))
        }
    }
}

impl ReadCode for CodeReader<'_> {
    fn read(&self, wanted: &CodeRequest, sources: &mut Sources) -> Result<Vec<CodeRead>, Vec<Diagnostic>> {
        let mut wanted = wanted.clone();
        if !self.blocks.is_empty() {
            wanted.blocks = Some(self.blocks.to_vec());
        }
        let several = wanted.ptx.len() > 1;
        let (mut all, mut errors) = (Vec::new(), Vec::new());
        for (number, ptx) in wanted.ptx.iter().enumerate() {
            let read = self.compiled(ptx, sources).and_then(|found| {
                let told = self.registers.of_entry(&found.0, &found.1, wanted.entry.as_deref());
                Ok((found, told.map_err(|wrong| Diagnostic { span: Some(ptx.span), ..wrong })?))
            });
            let read = read.map_err(|e| vec![e]);
            match read.and_then(|(found, told)| found.0.wanted(&wanted, told, sources)) {
                Ok(read) => all.extend(read.into_iter().map(|mut one| {
                    let name = || {
                        if ptx.value.contains('\n') {
                            format!("code {}", number + 1)
                        } else {
                            stem(&ptx.value)
                        }
                    };
                    one.variant = match one.variant {
                        Some(own) if several => Some(format!("{}, {own}", name())),
                        None if several => Some(name()),
                        own => own,
                    };
                    one
                })),
                Err(wrong) => errors.extend(wrong),
            }
        }
        if errors.is_empty() { Ok(all) } else { Err(errors) }
    }
}

/// A file without its folders and its ending.
fn stem(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(".ptx").unwrap_or(name).to_owned()
}

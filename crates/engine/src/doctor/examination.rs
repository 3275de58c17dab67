//! The checks of one database, in their order.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::{Value, json};

use crate::doctor::advice;
use crate::doctor::index_files::{Saved, read_saved, remove_saved};
use crate::doctor::memory::Memory;
use crate::doctor::oracle::Oracle;
use crate::doctor::patient::Patient;
use crate::doctor::record_check::check_record;
use crate::doctor::report::Report;
use crate::doctor::sample::Sample;
use crate::doctor::searches::{compare, questions};
use crate::doctor::store_repair::rebuild_state;
use crate::error::Error;
use crate::record::hexadecimal;
use crate::runtime::now_ms;
use crate::settings::Settings;
use crate::store::{
    Continuation, Findings, Inspection, LastChanges, Repaired, Rows, SETTINGS, StoreError,
    remove_acknowledged, store_path,
};
use crate::write::parse_data;

/// How often an open database is asked for a snapshot of the commit that the examination sees: each commit in between
/// makes another attempt necessary.
const ATTEMPTS: usize = 100;

/// Examines a database. Returns JSON: `checks`; `settings`, `identity` and `sample` for the checks that the engine
/// cannot make.
///
/// # Errors
/// [`Error::Stopped`]; failures of the system. Damage is no error.
pub(crate) fn examine(patient: &Patient) -> Result<Value, Error> {
    let mut examination = Examination {
        patient,
        report: Report::new(&patient.id),
        settings: None,
        identity: None,
        sample: Sample::default(),
    };
    match examination.run() {
        Err(_) if patient.stop.load(Relaxed) => return Err(Error::Stopped),
        outcome => outcome?,
    }
    let settings = examination.settings.as_ref();
    Ok(json!({
        "checks": examination.report.lines,
        "settings": settings.map(Settings::to_json),
        "identity": examination.identity,
        "sample": examination.sample.to_json(),
    }))
}

struct Examination<'a> {
    patient: &'a Patient,
    report: Report<'a>,
    settings: Option<Settings>,
    /// The id of the store and the epoch of its feed, in hexadecimal.
    identity: Option<String>,
    sample: Sample,
}

impl Examination<'_> {
    fn run(&mut self) -> Result<(), Error> {
        let path = store_path(&self.patient.directory);
        if !self.patient.disk.exists(&path).unwrap_or(true) {
            let problem = StoreError::FileMissing { path }.to_string();
            self.report.problem("structure", problem, advice::RESTORE);
            return Ok(());
        }
        let (mut inspection, memory) = match self.open() {
            Ok(opened) => opened,
            // The file is no store, or its first pages are damaged.
            Err(
                error @ (StoreError::Poisoned | StoreError::Busy | StoreError::Unloggable { .. }),
            ) => {
                return Err(error.into());
            }
            // That of a file that is there, for example without a free file descriptor.
            Err(error) if error.is_for_want_of_resources() && path.is_file() => {
                return Err(error.into());
            }
            Err(error) => {
                self.report
                    .problem("structure", error.to_string(), advice::RESTORE);
                return Ok(());
            }
        };
        self.identity = inspection
            .identity
            .map(|(store, epoch)| hexadecimal(store) + &hexadecimal(epoch));
        self.structure(&mut inspection)?;
        let checked = self
            .settings(&inspection)
            .and_then(|()| self.content(&inspection, memory))
            .and_then(|()| self.reembedding(&inspection))
            .and_then(|()| self.continuation(&inspection));
        match checked {
            // A statement needs a table, an index or a page that is damaged.
            Err(Error::Store(error))
                if error.code() == "damaged"
                    || matches!(error, StoreError::Sqlite { .. })
                        && !error.is_for_want_of_resources() =>
            {
                let problem = format!("the records cannot be read completely: {error}");
                self.report.problem("records", problem, advice::RESTORE);
                Ok(())
            }
            checked => checked,
        }
    }

    /// Opens the store, and for an open database finds the snapshot of the same commit.
    fn open(&self) -> Result<(Inspection, Option<Memory>), StoreError> {
        let Some(open) = &self.patient.open else {
            let path = store_path(&self.patient.directory);
            return Ok((Inspection::open(&self.patient.disk, &path)?, None));
        };
        for _ in 0..ATTEMPTS {
            let snapshot = (open.newest)();
            let inspection = Inspection::of_open(&open.reader)?;
            if inspection
                .state
                .is_some_and(|state| state.version == snapshot.version)
            {
                return Ok((inspection, Some(Memory::new(snapshot))));
            }
        }
        Ok((Inspection::of_open(&open.reader)?, None))
    }

    fn structure(&mut self, inspection: &mut Inspection) -> Result<(), Error> {
        let structure = inspection.structure(&self.patient.stop)?;
        if structure.only_indexes && self.patient.repair {
            let path = store_path(&self.patient.directory);
            Repaired::Indexes.apply(&path)?;
            let repaired = Inspection::open(&self.patient.disk, &path)?;
            if repaired.structure(&self.patient.stop)?.findings.is_empty() {
                *inspection = repaired;
                let repair = "the indexes were made again from the tables";
                self.report
                    .repaired("structure", structure.findings, repair);
                return Ok(());
            }
        }
        let advice = if structure.only_indexes {
            advice::INDEXES
        } else {
            advice::RESTORE
        };
        let detail = "every page, table and index of records.sqlite";
        self.report
            .check("structure", structure.findings, detail, advice);
        Ok(())
    }

    fn settings(&mut self, inspection: &Inspection) -> Result<(), Error> {
        let mut findings = inspection.meta_rows(now_ms())?;
        match Settings::from_stored(inspection.meta(SETTINGS)?) {
            Ok(settings) if settings.model.is_some() != settings.fingerprint.is_some() => {
                findings.add("the settings have a model without a fingerprint, or the reverse");
            }
            Ok(settings) => self.settings = Some(settings),
            Err(StoreError::Inconsistent { what }) => findings.add(what),
            Err(error) => return Err(error.into()),
        }
        let detail = "settings, ids and state";
        self.report
            .check("settings", findings, detail, advice::SETTINGS);
        Ok(())
    }

    /// Checks everything that needs the records: one pass reads them all.
    fn content(&mut self, inspection: &Inspection, memory: Option<Memory>) -> Result<(), Error> {
        let mut index_findings = Findings::default();
        let (mut memory, unused) = match (memory, &self.settings) {
            (Some(memory), _) => (Some(memory), String::new()),
            (None, Some(settings)) if self.patient.open.is_none() => {
                match read_saved(self.patient, inspection, settings, &mut index_findings)? {
                    Saved::Complete(snapshot) => (Some(Memory::new(snapshot)), String::new()),
                    Saved::Unused(reason) => (None, reason),
                    Saved::Damaged => (None, String::new()),
                }
            }
            _ => (
                None,
                "they were not checked while writes were busy".to_owned(),
            ),
        };
        let mut oracle = match &self.settings {
            Some(settings) if memory.is_some() => questions(inspection, settings)?,
            _ => Oracle::default(),
        };
        let mut change_findings = Findings::default();
        let Some(mut changes) = self.changes(inspection, &mut change_findings)? else {
            return Err(Error::Stopped);
        };
        let records = inspection.state.map_or(0, |state| state.tally.records);
        self.patient.progress.begin(records);
        let rows = inspection.rows(|record, findings| {
            self.patient.progress.count();
            changes.compare(record, &mut change_findings);
            if let Some(settings) = &self.settings
                && let Some(data) = check_record(settings, record, findings)
            {
                self.sample.add(settings, &data, record);
                oracle.show(settings, &data, record);
                if let Some(memory) = &mut memory {
                    memory.compare(&data, record, &mut index_findings);
                }
            }
            self.go_on(())
        })?;
        let Some(rows) = rows else {
            return Err(Error::Stopped);
        };
        changes.missing(&mut change_findings);
        if let Some(memory) = memory.as_mut().filter(|_| rows.findings.is_empty()) {
            memory.finish(&mut index_findings);
        }
        let search_findings = match &memory {
            Some(memory) if rows.findings.is_empty() && index_findings.is_empty() => {
                let mut findings = Findings::default();
                compare(&oracle, &memory.snapshot, &self.patient.stop, &mut findings)?;
                Some(findings)
            }
            _ => None,
        };
        self.records_and_changes(inspection, rows, (&changes, change_findings))?;
        self.index_files(index_findings, unused, memory.is_some())?;
        self.searches(search_findings, oracle.questions.len());
        Ok(())
    }

    fn changes(
        &self,
        inspection: &Inspection,
        findings: &mut Findings,
    ) -> Result<Option<LastChanges>, StoreError> {
        inspection.changes(findings, |data| {
            self.go_on(data.is_none_or(|data| parse_data(data).is_ok()))
        })
    }

    fn records_and_changes(
        &mut self,
        inspection: &Inspection,
        rows: Rows,
        (changes, change_findings): (&LastChanges, Findings),
    ) -> Result<(), Error> {
        let records = rows.records;
        let mut state_is_repaired = false;
        if self.patient.repair && rows.findings.is_empty() && !rows.state.is_empty() {
            let switch = inspection.switch()?;
            state_is_repaired =
                rebuild_state(self.patient, (&rows, switch), changes, &change_findings)?;
        }
        let detail = format!("{records} records match their checksums");
        self.report
            .check("records", rows.findings, detail, advice::RECORDS);
        let detail = "number and checksum of all records";
        if state_is_repaired {
            let repair = "they were made again from the records";
            self.report.repaired("count", rows.state, repair);
        } else {
            self.report
                .check("count", rows.state, detail, advice::STATE);
        }
        let detail = format!("{} changes of the feed fit the records", changes.changes);
        self.report
            .check("changes", change_findings, detail, advice::RECORDS);
        Ok(())
    }

    fn index_files(
        &mut self,
        findings: Findings,
        unused: String,
        compared: bool,
    ) -> Result<(), Error> {
        if !findings.is_empty() && self.patient.repair {
            remove_saved(self.patient)?;
            let repair = "they were removed, and the next start makes them again";
            self.report.repaired("index_files", findings, repair);
            return Ok(());
        }
        let detail = if compared {
            "they hold the same records as the store".to_owned()
        } else {
            unused
        };
        self.report
            .check("index_files", findings, detail, advice::INDEX_FILES);
        Ok(())
    }

    fn searches(&mut self, findings: Option<Findings>, questions: usize) {
        match findings {
            None => self.report.ok(
                "searches",
                "not compared, because there are no complete index files to search",
            ),
            Some(findings) => {
                let detail = format!("{questions} searches find what brute force finds");
                self.report
                    .check("searches", findings, detail, advice::SEARCHES);
            }
        }
    }

    /// Checks what a re-embedding has made so far, if there is one.
    fn reembedding(&mut self, inspection: &Inspection) -> Result<(), Error> {
        let found = inspection.next_rows(|| self.go_on(()).is_continue())?;
        if self.patient.stop.load(Relaxed) {
            return Err(Error::Stopped);
        }
        let Some((findings, records)) = found else {
            return Ok(());
        };
        if !findings.is_empty() && self.patient.repair {
            Repaired::NextModel.apply(&store_path(&self.patient.directory))?;
            let repair = "it was removed, and can be started again";
            self.report.repaired("reembedding", findings, repair);
            return Ok(());
        }
        let detail = format!("the new vectors of {records} records match their checksums");
        self.report
            .check("reembedding", findings, detail, advice::REEMBEDDING);
        Ok(())
    }

    /// Checks whether the next start continues the store. An open store keeps its file `acknowledged` itself.
    fn continuation(&mut self, inspection: &Inspection) -> Result<(), Error> {
        if self.patient.open.is_some() {
            return Ok(());
        }
        let mut findings = Findings::default();
        let mut detail = "the store continues where it ended".to_owned();
        let mut advice = advice::ACKNOWLEDGED;
        match inspection.continuation(&*self.patient.disk)? {
            None | Some(Continuation::Continues) => {}
            Some(Continuation::Restored(reason)) => {
                detail = format!(
                    "the next start treats the database as a restored backup and gives its change feed a new epoch: {reason}"
                );
            }
            Some(Continuation::Damaged) => {
                findings.add("the file `acknowledged` is damaged");
                if self.patient.repair {
                    let path = store_path(&self.patient.directory);
                    remove_acknowledged(&*self.patient.disk, &path)?;
                    let repair = "it was removed, and the next start checks all records";
                    self.report.repaired("acknowledged", findings, repair);
                    return Ok(());
                }
            }
            Some(Continuation::OfAnotherStore) => {
                findings
                    .add("the file `acknowledged` is that of another store than records.sqlite");
                advice = advice::OTHER_STORE;
            }
            Some(Continuation::Lost {
                acknowledged,
                found,
            }) => {
                findings.add(format!(
                    "acknowledged commits are missing: the store ends with commit {found}, but commit {acknowledged} was acknowledged"
                ));
                advice = advice::LOST;
            }
            Some(Continuation::SettingsLost) => {
                findings.add("acknowledged changes of the settings are missing");
                advice = advice::LOST;
            }
        }
        self.report.check("acknowledged", findings, detail, advice);
        Ok(())
    }

    fn go_on<T>(&self, value: T) -> ControlFlow<(), T> {
        if self.patient.stop.load(Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(value)
        }
    }
}

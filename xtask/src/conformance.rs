//! `cargo xtask conformance`: the recorded HTTP scenarios against the demo server on the recorded site.
//! They are the kit's, and the project's own in `tests/conformance`.
//!
//! The site is imported once; before each scenario that writes, and after it, the server is stopped, the imported copy
//! put back, and the server started again. Steps on which the project differs on purpose stand, with the reason, in
//! `tests/conformance/differences.toml`: they are counted apart, and one that passes is a failure.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use svc_testkit::mariadb::{MariaDb, QUICK};

use crate::{
    nonces, root, say,
    server::{self, Server},
};

/// Name of the server's example that registers what the recorded site registers.
const EXAMPLE: &str = "demo";

/// The brand word of the peer that was recorded.
const RECORDED_BRAND: &str = "wp";

/// Failing steps that are told per scenario, unless all are asked for.
const TOLD: usize = 5;

struct Options {
    brand: String,
    database: String,
    shared: PathBuf,
    all: bool,
    release: bool,
    scenarios: Vec<String>,
}

fn options(args: &[String]) -> Result<Options> {
    let mut options = Options {
        brand: RECORDED_BRAND.to_owned(),
        database: "sqlite".to_owned(),
        shared: root()?.join("../shared"),
        all: false,
        release: false,
        scenarios: Vec::new(),
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--brand" => options.brand = args.next().context("--brand needs a word")?.clone(),
            "--database" => options.database = args.next().context("--database needs a kind")?.clone(),
            "--shared" => options.shared = args.next().context("--shared needs a folder")?.into(),
            "--all" => options.all = true,
            "--release" => options.release = true,
            flag if flag.starts_with('-') => bail!("{flag} is not known"),
            name => options.scenarios.push(name.to_owned()),
        }
    }
    Ok(options)
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let mut options = options(args)?;
    // The server that is started works in another folder, where a relative path would mean something else.
    if let Ok(whole) = options.shared.canonicalize() {
        options.shared = whole;
    }
    let kit = options.shared.join("conformance/http/conform.py");
    let fixture = options.shared.join("conformance/fixture");
    if !kit.is_file() || !fixture.join("site.sql.gz").is_file() {
        say(&format!("skipped: the conformance kit is not at {}", options.shared.display()))?;
        return Ok(());
    }
    let scenarios = scenarios(&kit, &options.scenarios)?;
    let differences = Differences::read(&options.brand)?;
    let mysql = match options.database.as_str() {
        "sqlite" => None,
        "mysql" => match MariaDb::start(QUICK)? {
            Some(mysql) => Some((mysql, String::new())),
            None => return say("skipped: no mariadbd is installed"),
        },
        other => bail!("--database {other}: must be sqlite or mysql"),
    };
    let program = server::build(Some(EXAMPLE), options.release)?;
    let work = tempfile::tempdir().context("cannot make a temporary folder")?;
    let mut site =
        Site { program, work: work.path().to_owned(), brand: options.brand.clone(), fixture, mysql, server: None };
    site.import()?;
    let (mut total, mut dirty) = (Outcome::default(), true);
    let told = if options.all { usize::MAX } else { TOLD };
    for scenario in &scenarios {
        if dirty || scenario.writes {
            site.reset()?;
        }
        dirty = scenario.writes;
        let outcome = differences.judge(check(&kit, site.address()?, &options.brand, scenario, work.path())?);
        for line in outcome.failures.iter().take(told) {
            say(&format!("    {line}"))?;
        }
        let differing = if outcome.differing > 0 { format!(" {:5} differ", outcome.differing) } else { String::new() };
        say(&format!(
            "{:28} {:5} passed {:5} failed{differing}",
            scenario.name,
            outcome.passed,
            outcome.failures.len()
        ))?;
        total.passed += outcome.passed;
        total.differing += outcome.differing;
        total.failures.extend(outcome.failures);
    }
    site.stop();
    if total.differing > 0 {
        say(&format!("differ on purpose: {}", total.differing))?;
    }
    say(&format!("{} passed, {} failed", total.passed, total.failures.len()))?;
    if total.failures.is_empty() { Ok(()) } else { std::process::exit(1) }
}

/// A scenario, and the folder that it stands in with what was recorded.
struct Scenario {
    name: String,
    writes: bool,
    folder: PathBuf,
}

/// The scenarios asked for, all when none is: those of the kit, and the project's own.
fn scenarios(kit: &Path, wanted: &[String]) -> Result<Vec<Scenario>> {
    let of_kit = kit.parent().context("the kit stands in a folder")?.to_owned();
    let mut all = Vec::new();
    for folder in [of_kit, root()?.join("tests/conformance")] {
        all.extend(listed(kit, folder)?);
    }
    if let Some(unknown) = wanted.iter().find(|w| !all.iter().any(|s| s.name == **w)) {
        bail!("there is no scenario `{unknown}`");
    }
    all.retain(|s| wanted.is_empty() || wanted.contains(&s.name));
    Ok(all)
}

/// The scenarios of a folder; the kit tells which of them write.
fn listed(kit: &Path, folder: PathBuf) -> Result<Vec<Scenario>> {
    let mut command = Command::new("python3");
    command.arg(kit).arg("list").arg("--dir").arg(&folder);
    let output = command.output().context("cannot run python3")?;
    if !output.status.success() {
        bail!("the kit cannot list its scenarios: {}", String::from_utf8_lossy(&output.stderr));
    }
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let scenario = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next()?.to_owned();
        Some(Scenario { name, writes: words.last() == Some("writes"), folder: folder.clone() })
    };
    Ok(lines.lines().filter(|line| !line.ends_with("steps")).filter_map(scenario).collect())
}

/// Names of the databases on a server: the imported site, and the copy that is served.
const IMPORTED: &str = "imported";
const SERVED: &str = "served";

/// The demo server on a copy of the recorded site.
struct Site {
    program: PathBuf,
    work: PathBuf,
    brand: String,
    fixture: PathBuf,
    /// The private database server, and the imported site as its own tool dumps it; without it the site is on SQLite.
    mysql: Option<(MariaDb, String)>,
    server: Option<Server>,
}

impl Site {
    fn imported(&self) -> PathBuf {
        self.work.join("imported")
    }

    fn command(&self, data: &Path, database: &str) -> Command {
        let mut command = Command::new(&self.program);
        // The working folder has no settings of its own, and those of the environment do not count here.
        command.current_dir(&self.work).env_clear().args(["--brand", &self.brand]);
        command.arg("--data").arg(data).arg("--config").arg(self.fixture.join("svc.toml"));
        if let Some((mysql, _)) = &self.mysql {
            command.env("SVC_DATABASE", mysql.url(database));
        }
        command
    }

    fn import(&mut self) -> Result<()> {
        let dump = self.fixture.join("site.sql.gz");
        if let Some((mysql, _)) = &self.mysql {
            mysql.create(IMPORTED)?;
        }
        let mut command = self.command(&self.imported(), IMPORTED);
        command.arg("import").arg(dump).arg("--content").arg(self.fixture.join("content"));
        let output = command.output().with_context(|| format!("cannot run {}", self.program.display()))?;
        if !output.status.success() {
            bail!("the recorded site cannot be imported: {}", String::from_utf8_lossy(&output.stderr));
        }
        if let Some((mysql, dump)) = &mut self.mysql {
            *dump = mysql.dump(IMPORTED)?;
        }
        Ok(())
    }

    /// Puts the imported site back and starts the server on it.
    fn reset(&mut self) -> Result<()> {
        self.stop();
        let data = self.work.join("data");
        if data.exists() {
            std::fs::remove_dir_all(&data).context("cannot remove the used site")?;
        }
        copy(&self.imported(), &data)?;
        if let Some((mysql, dump)) = &self.mysql {
            mysql.create(SERVED)?;
            mysql.client(&format!("USE {SERVED};\n{dump}"))?;
        }
        let mut command = self.command(&data, SERVED);
        command.args(["--listen", "127.0.0.1:0", "--log", "warn", "serve"]);
        self.server = Some(Server::start(command, &self.work.join("server.log"))?);
        Ok(())
    }

    fn address(&self) -> Result<&str> {
        Ok(self.server.as_ref().context("the server runs")?.address())
    }

    /// What it wrote is thrown away next, so it need not be asked kindly.
    fn stop(&mut self) {
        self.server = None;
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in std::fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), &target).with_context(|| format!("cannot copy to {}", target.display()))?;
        }
    }
    Ok(())
}

/// How a scenario went, judged.
#[derive(Default)]
struct Outcome {
    passed: usize,
    differing: usize,
    failures: Vec<String>,
}

/// What the kit says of a scenario.
#[derive(Deserialize)]
struct Report {
    scenario: String,
    passed: usize,
    failures: Vec<Failure>,
}

/// A step that was not answered as recorded.
#[derive(Deserialize)]
struct Failure {
    step: String,
    difference: String,
}

fn check(kit: &Path, address: &str, brand: &str, scenario: &Scenario, work: &Path) -> Result<Report> {
    #[derive(Deserialize)]
    struct Reports {
        scenarios: Vec<Report>,
    }
    // What a step sends from a file stands in the kit, wherever its scenario does.
    let folder = work.join("conformance");
    nonces::without(&scenario.folder, &folder, &scenario.name)?;
    let output = Command::new("python3")
        .arg(kit)
        .args(["check", address, "--no-reset", "--json", "--brand", brand, "--scenario", &scenario.name])
        .arg("--dir")
        .arg(&folder)
        .output()
        .context("cannot run python3")?;
    let reports: Option<Reports> = serde_json::from_slice(&output.stdout).ok();
    reports.and_then(|r| r.scenarios.into_iter().next()).with_context(|| {
        format!("the kit did not finish {}: {}", scenario.name, String::from_utf8_lossy(&output.stderr))
    })
}

/// Steps on which the project differs on purpose.
struct Differences(Vec<(String, String)>);

impl Differences {
    /// Those that hold under this brand.
    fn read(brand: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct File {
            difference: Vec<Difference>,
        }
        #[derive(Deserialize)]
        struct Difference {
            #[expect(dead_code, reason = "for people who read the file; it must be there")]
            reason: String,
            scenario: String,
            steps: Vec<String>,
            /// Only where the brand is not that of the recordings.
            #[serde(default)]
            other_brands: bool,
        }
        let path = root()?.join("tests/conformance/differences.toml");
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let file: File = toml::from_str(&text).with_context(|| format!("cannot read {}", path.display()))?;
        let pairs = |d: Difference| d.steps.into_iter().map(move |step| (d.scenario.clone(), step));
        let holds = |d: &Difference| !d.other_brands || brand != RECORDED_BRAND;
        Ok(Differences(file.difference.into_iter().filter(holds).flat_map(pairs).collect()))
    }

    /// Sorts what failed into what was to fail and what was not; what was to fail and did not is a failure.
    fn judge(&self, report: Report) -> Outcome {
        let listed: Vec<&str> =
            self.0.iter().filter(|(s, _)| *s == report.scenario).map(|(_, step)| step.as_str()).collect();
        let (differing, failed): (Vec<Failure>, Vec<Failure>) =
            report.failures.into_iter().partition(|f| listed.contains(&f.step.as_str()));
        let passing = listed.iter().filter(|step| !differing.iter().any(|f| f.step == **step));
        let mut failures: Vec<String> = failed.iter().map(|f| format!("{}: {}", f.step, f.difference)).collect();
        failures.extend(passing.map(|step| format!("{step}: is listed as differing, and passes or is gone")));
        Outcome { passed: report.passed, differing: differing.len(), failures }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_steps_are_counted_apart_and_must_fail() {
        let listed = ["a", "b"].map(|step| ("s".to_owned(), step.to_owned())).to_vec();
        let failure = |step: &str| Failure { step: step.to_owned(), difference: "x".to_owned() };
        let report = Report { scenario: "s".to_owned(), passed: 3, failures: vec![failure("a"), failure("c")] };
        let outcome = Differences(listed).judge(report);
        assert_eq!((outcome.passed, outcome.differing), (3, 1));
        assert_eq!(outcome.failures, ["c: x", "b: is listed as differing, and passes or is gone"]);
    }

    #[test]
    fn the_list_in_the_repository_can_be_read() {
        assert!(Differences::read(RECORDED_BRAND).is_ok());
    }
}

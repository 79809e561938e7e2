//! What a process does to files, as strace records it.

use std::{
    collections::HashMap,
    fs::File,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::Command,
    rc::Rc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

/// The calls that change files, and those that say which file a descriptor is.
const CALLS: &str = "open,openat,openat2,creat,close,dup,dup2,dup3,fcntl,lseek,write,pwrite64,writev,pwritev,pwritev2,\
    ftruncate,truncate,fallocate,copy_file_range,sendfile,splice,mmap,fsync,fdatasync,sync,syncfs,sync_file_range,msync,\
    rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,io_uring_setup";

/// The longest time that strace takes to write its last lines.
const LAST_LINES: Duration = Duration::from_secs(60);

/// A file descriptor.
pub(super) type Fd = i64;

/// A path, and the open folder that it is relative to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) folder: Option<Fd>,
    pub(super) path: String,
}

/// What a call did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Open {
        place: Place,
        flags: String,
        fd: Fd,
    },
    Close(Fd),
    Duplicate {
        fd: Fd,
        new: Fd,
    },
    /// The offset of a descriptor is set.
    Seek {
        fd: Fd,
        offset: usize,
    },
    /// Without an offset, at that of the descriptor. `file` is the path of the descriptor.
    Write {
        fd: Fd,
        file: String,
        offset: Option<usize>,
        data: Rc<[u8]>,
    },
    Copy {
        from: Fd,
        from_offset: Option<usize>,
        to: Fd,
        to_offset: Option<usize>,
        len: usize,
    },
    SetLen {
        fd: Fd,
        len: usize,
    },
    /// At least this length.
    Allocate {
        fd: Fd,
        len: usize,
    },
    /// A mapping that writes to a file.
    Map {
        file: String,
    },
    Sync(Fd),
    CreateFolder(Place),
    Rename {
        from: Place,
        to: Place,
        keep: bool,
    },
    Remove(Place),
}

/// A call, in the order in which calls ended, except that descriptors are closed at the beginning of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// Lines of the recording at which it began and ended.
    pub(super) begun: u64,
    pub(super) ended: u64,
    /// When it was recorded, in microseconds since 1970.
    pub(super) time: u64,
    pub(super) action: Action,
}

/// The path of strace; `None` if it is not installed.
pub(super) fn strace() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join("strace")).find(|file| file.is_file())
}

/// The command with a recording of its calls in a file.
pub(super) fn recorded(strace: &Path, command: &Command, to: &Path) -> Command {
    let mut recorded = Command::new(strace);
    // The process is the child of this one, and strace runs beside it.
    recorded.args(["-D", "-f", "--seccomp-bpf", "-q", "-y", "-ttt", "-s", "67108864", "-e"]);
    recorded.arg(format!("trace={CALLS}")).arg("-o").arg(to);
    recorded.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        recorded.current_dir(folder);
    }
    recorded.env_clear();
    recorded.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    recorded
}

/// Waits until the recording of a process that has ended is complete.
pub(super) fn wait(recording: &Path) -> Result<()> {
    let begun = Instant::now();
    let mut first = Vec::new();
    BufReader::new(File::open(recording).context("there is no recording")?).read_until(b' ', &mut first)?;
    let process = String::from_utf8(first)?;
    loop {
        let end = tail(recording)?;
        let last = end.lines().rev().find(|line| line.starts_with(&process));
        if last.is_some_and(|line| line.contains("+++ exited with") || line.contains("+++ killed by")) {
            return Ok(());
        }
        ensure!(begun.elapsed() < LAST_LINES, "strace does not end: {end:.300}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The last lines of a file.
fn tail(path: &Path) -> Result<String> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let mut file = File::open(path).context("there is no recording")?;
    let len = file.metadata()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(65_536)))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    Ok(String::from_utf8_lossy(&end).into_owned())
}

/// Reads a recording. `first` is the number of its first line.
pub(super) fn read(recording: &Path, first: u64) -> Result<Vec<Call>> {
    let file = BufReader::with_capacity(1 << 20, File::open(recording).context("there is no recording")?);
    let mut parser = Parser { line: first, begun: HashMap::new(), calls: Vec::new() };
    for line in file.split(b'\n') {
        parser.line(&line?).with_context(|| format!("line {}", parser.line - first + 1))?;
        parser.line += 1;
    }
    Ok(parser.calls)
}

/// Reads lines.
struct Parser {
    line: u64,
    /// Calls that have not ended: by thread, the line, and the text.
    begun: HashMap<String, (u64, Vec<u8>)>,
    calls: Vec<Call>,
}

impl Parser {
    fn line(&mut self, line: &[u8]) -> Result<()> {
        let Some((thread, rest)) = word(line) else { return Ok(()) };
        let Some((time, rest)) = word(rest) else { return Ok(()) };
        if rest.starts_with(b"---") || rest.starts_with(b"+++") {
            return Ok(());
        }
        let (seconds, micros) = time.split_once('.').context("no time")?;
        let time = seconds.parse::<u64>()? * 1_000_000 + micros.parse::<u64>()?;
        let mut begun = self.line;
        let text = if let Some(rest) = rest.strip_prefix(b"<... ") {
            let end = find(rest, b" resumed>").context("not a resumed call")?;
            let (line, mut text) = self.begun.remove(thread).context("resumed without a beginning")?;
            begun = line;
            text.extend(rest.get(end + b" resumed>".len()..).unwrap_or_default());
            if text.starts_with(b"close(") {
                return Ok(());
            }
            text
        } else if let Some(head) = rest.strip_suffix(b" <unfinished ...>") {
            if head.starts_with(b"close(") {
                self.add(begun, time, head)?;
            }
            self.begun.insert(thread.to_owned(), (begun, head.to_vec()));
            return Ok(());
        } else {
            rest.to_vec()
        };
        self.add(begun, time, &text)
    }

    fn add(&mut self, begun: u64, time: u64, text: &[u8]) -> Result<()> {
        let action = parse(text).with_context(|| format!("{:.300}", String::from_utf8_lossy(text)))?;
        self.calls.extend(action.map(|action| Call { begun, ended: self.line, time, action }));
        Ok(())
    }
}

/// The first word of a line, and what follows it.
fn word(line: &[u8]) -> Option<(&str, &[u8])> {
    let end = line.iter().position(|b| *b == b' ')?;
    let (word, rest) = line.split_at(end);
    Some((std::str::from_utf8(word).ok()?, rest.trim_ascii_start()))
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// Reads a call; `None` if it has failed or changes nothing.
fn parse(text: &[u8]) -> Result<Option<Action>> {
    let open = text.iter().position(|b| *b == b'(').context("no call")?;
    let (name, rest) = text.split_at(open);
    let name = std::str::from_utf8(name)?;
    let (args, after) = arguments(rest.get(1..).unwrap_or_default());
    let arg = |n: usize| args.get(n).copied().with_context(|| format!("no argument {n}"));
    let fd = |n: usize| number(arg(n)?);
    if name == "close" {
        return Ok(Some(Action::Close(fd(0)?)));
    }
    let result = String::from_utf8_lossy(after);
    let result = result.trim_start().strip_prefix("= ").context("no result")?;
    // The process ended during the call, or it failed.
    if result.starts_with('?') || result.starts_with('-') {
        return Ok(None);
    }
    let result_number = || number(result.as_bytes());
    let done = || usize::try_from(result_number()?).context("a negative length");
    let offset = |n: usize| usize::try_from(number(arg(n)?)?).context("a negative offset");
    let optional = |n: usize| match arg(n)? {
        b"NULL" => Ok(None),
        text => Ok::<_, anyhow::Error>(Some(usize::try_from(number(
            text.trim_ascii_start().get(1..).unwrap_or_default(),
        )?)?)),
    };
    let at = |n: usize| Ok::<_, anyhow::Error>(Place { folder: folder(arg(n)?)?, path: path(arg(n + 1)?)? });
    let here = |n: usize| Ok::<_, anyhow::Error>(Place { folder: None, path: path(arg(n)?)? });
    let flags = |n: usize| Ok::<_, anyhow::Error>(String::from_utf8_lossy(arg(n)?).into_owned());
    let write = |offset: Option<usize>| {
        let mut data = strings(arg(1)?)?;
        ensure!(data.len() >= done()?, "the data is cut");
        data.truncate(done()?);
        Ok::<_, anyhow::Error>(Action::Write { fd: fd(0)?, file: file(arg(0)?), offset, data: data.into() })
    };
    Ok(Some(match name {
        "open" => Action::Open { place: here(0)?, flags: flags(1)?, fd: result_number()? },
        "openat" => Action::Open { place: at(0)?, flags: flags(2)?, fd: result_number()? },
        "dup" | "dup2" | "dup3" => Action::Duplicate { fd: fd(0)?, new: result_number()? },
        "fcntl" if flags(1)?.starts_with("F_DUPFD") => Action::Duplicate { fd: fd(0)?, new: result_number()? },
        "fcntl" | "sync_file_range" => return Ok(None),
        "lseek" => Action::Seek { fd: fd(0)?, offset: done()? },
        "write" => write(None)?,
        "writev" => write(None)?,
        "pwrite64" => write(Some(offset(3)?))?,
        "pwritev" => write(Some(offset(3)?))?,
        "ftruncate" => Action::SetLen { fd: fd(0)?, len: offset(1)? },
        "fallocate" if arg(1)? == b"0" => Action::Allocate { fd: fd(0)?, len: offset(2)? + offset(3)? },
        "copy_file_range" => {
            Action::Copy { from: fd(0)?, from_offset: optional(1)?, to: fd(2)?, to_offset: optional(3)?, len: done()? }
        }
        "sendfile" => {
            Action::Copy { from: fd(1)?, from_offset: optional(2)?, to: fd(0)?, to_offset: None, len: done()? }
        }
        "mmap" => {
            let (protection, kind) = (flags(2)?, flags(3)?);
            match protection.contains("PROT_WRITE") && kind.contains("MAP_SHARED") && !kind.contains("MAP_ANONYMOUS") {
                true => Action::Map { file: file(arg(4)?) },
                false => return Ok(None),
            }
        }
        "fsync" | "fdatasync" => Action::Sync(fd(0)?),
        "mkdir" => Action::CreateFolder(here(0)?),
        "mkdirat" => Action::CreateFolder(at(0)?),
        "rename" => Action::Rename { from: here(0)?, to: here(1)?, keep: false },
        "renameat" | "renameat2" => Action::Rename { from: at(0)?, to: at(2)?, keep: false },
        "link" => Action::Rename { from: here(0)?, to: here(1)?, keep: true },
        "linkat" => Action::Rename { from: at(0)?, to: at(2)?, keep: true },
        "unlink" | "rmdir" => Action::Remove(here(0)?),
        "unlinkat" => Action::Remove(at(0)?),
        // Between sockets and pipes.
        "splice" => return Ok(None),
        _ => bail!("a call that is not known"),
    }))
}

/// The arguments of a call, and what follows them.
fn arguments(text: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let (mut args, mut begin, mut depth, mut quoted, mut escaped, mut in_path) =
        (Vec::new(), 0, 0, false, false, false);
    for (i, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' if !in_path => quoted = !quoted,
            _ if quoted => {}
            b'<' => in_path = true,
            b'>' => in_path = false,
            _ if in_path => {}
            b'[' | b'{' | b'(' => depth += 1,
            b')' if depth == 0 => {
                args.push(text.get(begin..i).unwrap_or_default().trim_ascii());
                return (args, text.get(i + 1..).unwrap_or_default());
            }
            b']' | b'}' | b')' => depth -= 1,
            b',' if depth == 0 => {
                args.push(text.get(begin..i).unwrap_or_default().trim_ascii());
                begin = i + 1;
            }
            _ => {}
        }
    }
    args.push(text.get(begin..).unwrap_or_default().trim_ascii());
    (args, &[])
}

/// The number at the beginning.
fn number(text: &[u8]) -> Result<i64> {
    let len = text.iter().skip(1).position(|b| !b.is_ascii_digit()).map_or(text.len(), |n| n + 1);
    let digits = std::str::from_utf8(text.get(..len).unwrap_or_default())?;
    digits.parse().with_context(|| format!("{digits} is not a number"))
}

/// The open folder of a path; `None` for the working folder.
fn folder(text: &[u8]) -> Result<Option<Fd>> {
    if text.starts_with(b"AT_FDCWD") { Ok(None) } else { number(text).map(Some) }
}

/// The path of a descriptor, which is between angle brackets.
fn file(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.split_once('<').and_then(|(_, path)| path.split_once('>')).map(|(path, _)| path.to_owned()).unwrap_or_default()
}

fn path(text: &[u8]) -> Result<String> {
    Ok(String::from_utf8(strings(text)?)?)
}

/// All strings of an argument, one after the other.
fn strings(text: &[u8]) -> Result<Vec<u8>> {
    let (mut bytes, mut quoted, mut rest) = (Vec::with_capacity(text.len()), false, text.iter().copied().peekable());
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' if quoted => match rest.next().context("an incomplete string")? {
                b'n' => bytes.push(b'\n'),
                b't' => bytes.push(b'\t'),
                b'r' => bytes.push(b'\r'),
                b'v' => bytes.push(0x0b),
                b'f' => bytes.push(0x0c),
                first @ b'0'..=b'7' => {
                    let mut value = u32::from(first - b'0');
                    for _ in 0..2 {
                        let Some(digit) = rest.next_if(|b| (b'0'..=b'7').contains(b)) else { break };
                        value = value * 8 + u32::from(digit - b'0');
                    }
                    bytes.push(u8::try_from(value)?);
                }
                other => bytes.push(other),
            },
            _ if quoted => bytes.push(byte),
            b'.' => bail!("the data is cut"),
            _ => {}
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Vec<(u64, u64, Action)> {
        let mut parser = Parser { line: 0, begun: HashMap::new(), calls: Vec::new() };
        for line in lines {
            parser.line(line.as_bytes()).unwrap();
            parser.line += 1;
        }
        parser.calls.into_iter().map(|call| (call.begun, call.ended, call.action)).collect()
    }

    fn here(path: &str) -> Place {
        Place { folder: None, path: path.to_owned() }
    }

    #[test]
    fn calls_are_read_as_strace_writes_them() {
        let data = |fd, file: &str, offset, data: &[u8]| Action::Write {
            fd,
            file: file.to_owned(),
            offset,
            data: data.into(),
        };
        for (text, expected) in [
            (
                r#"openat(AT_FDCWD</w>, "a b", O_RDWR|O_CREAT|O_CLOEXEC, 0666) = 7</w/a b>"#,
                Some(Action::Open { place: here("a b"), flags: "O_RDWR|O_CREAT|O_CLOEXEC".to_owned(), fd: 7 }),
            ),
            (r#"openat(AT_FDCWD</w>, "x", O_RDONLY) = -1 ENOENT (No such file or directory)"#, None),
            (
                r#"write(7</w/a>, "one, \"two\")\n\0\0011\377", 16) = 16"#,
                Some(data(7, "/w/a", None, b"one, \"two\")\n\0\x011\xff")),
            ),
            (r#"pwrite64(7</w/a>, "abc", 3, 4096) = 2"#, Some(data(7, "/w/a", Some(4096), b"ab"))),
            (
                r#"writev(7</w/a>, [{iov_base="ab", iov_len=2}, {iov_base="c", iov_len=1}], 2) = 3"#,
                Some(data(7, "/w/a", None, b"abc")),
            ),
            ("lseek(7</w/a>, 0, SEEK_END) = 12", Some(Action::Seek { fd: 7, offset: 12 })),
            ("fcntl(7</w/a>, F_DUPFD_CLOEXEC, 3) = 9</w/a>", Some(Action::Duplicate { fd: 7, new: 9 })),
            ("fcntl(7</w/a>, F_SETLK, {l_type=F_RDLCK, l_len=1}) = 0", None),
            ("fdatasync(7</w/a>)                = 0", Some(Action::Sync(7))),
            ("ftruncate(7</w/a>, 512) = 0", Some(Action::SetLen { fd: 7, len: 512 })),
            (
                "copy_file_range(3</w/a>, NULL, 4</w/b>, [8], 100, 0) = 20",
                Some(Action::Copy { from: 3, from_offset: None, to: 4, to_offset: Some(8), len: 20 }),
            ),
            (
                r#"renameat(AT_FDCWD</w>, "a", 5</w/f>, "b") = 0"#,
                Some(Action::Rename {
                    from: here("a"),
                    to: Place { folder: Some(5), path: "b".to_owned() },
                    keep: false,
                }),
            ),
            (r#"unlinkat(5</w/f>, "b", 0) = 0"#, Some(Action::Remove(Place { folder: Some(5), path: "b".to_owned() }))),
            (
                "mmap(NULL, 8, PROT_READ|PROT_WRITE, MAP_SHARED, 7</w/a>, 0) = 0x7f",
                Some(Action::Map { file: "/w/a".to_owned() }),
            ),
            ("mmap(NULL, 8, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f", None),
            ("fsync(7</w/a>) = ?", None),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap(), expected, "{text}");
        }
        for text in [r#"write(7</w/a>, "abc"..., 10) = 10"#, "io_uring_setup(8, 0x7f) = 5", "truncate(\"a\", 3) = 0"] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn calls_end_in_another_line_than_they_begin() {
        let found = read(&[
            "11 1.000001 fdatasync(7</w/a> <unfinished ...>",
            "12 1.000002 close(8</w/b> <unfinished ...>",
            "11 1.000003 <... fdatasync resumed>) = 0",
            "13 1.000004 openat(AT_FDCWD</w>, \"c\", O_RDONLY) = 8</w/c>",
            "12 1.000005 <... close resumed>) = 0",
            "11 1.000006 +++ exited with 0 +++",
        ]);
        let open = Action::Open { place: here("c"), flags: "O_RDONLY".to_owned(), fd: 8 };
        assert_eq!(found, [(1, 1, Action::Close(8)), (0, 2, Action::Sync(7)), (3, 3, open)]);
    }
}

//! Only one process uses a data directory. The error of a second process names the first.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::disk::{DataLock, LockError, RealDisk};
use crate::store::tests::support::{child, task};

#[test]
fn a_second_process_is_refused_until_the_first_is_gone() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let data = directory.path().join("data");
    let mut holder = child("store::tests::lock::child_that_holds", &data)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the child starts");
    let output = BufReader::new(holder.stdout.take().expect("it is piped"));
    let held = output
        .lines()
        .any(|line| line.expect("it is text").ends_with("held"));
    assert!(held, "the child took the lock");
    let error = DataLock::acquire(&RealDisk, &data).expect_err("it is refused");
    let pid = holder.id();
    assert!(
        matches!(&error, LockError::Held { path, pid: Some(of) } if *path == data && *of == pid)
    );
    assert!(
        error
            .to_string()
            .ends_with(&format!("is in use by process {pid}")),
        "{error}"
    );

    holder.kill().expect("the child is killed");
    holder.wait().expect("the child ends");
    let lock = DataLock::acquire(&RealDisk, &data).expect("the operating system released the lock");
    let error = DataLock::acquire(&RealDisk, &data)
        .expect_err("a second handle of this process is refused too");
    assert!(matches!(&error, LockError::Own { path } if *path == data));
    #[cfg(unix)]
    {
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&data, &link).expect("a link can be made");
        let error = DataLock::acquire(&RealDisk, &link).expect_err("it is the same directory");
        assert!(matches!(&error, LockError::Own { path } if *path == link));
    }
    drop(lock);
    DataLock::acquire(&RealDisk, &data).expect("it is free again");
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn child_that_holds() {
    let data = task();
    let _lock = DataLock::acquire(&RealDisk, &data).expect("it is free");
    println!("held");
    // Wait until the parent kills this process.
    let _ = std::io::stdin().read_line(&mut String::new());
}

#[cfg(unix)]
#[test]
fn the_directory_is_made_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let data = directory.path().join("new/data");
    let _lock = DataLock::acquire(&RealDisk, &data).expect("it is free");
    let mode = data.metadata().expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

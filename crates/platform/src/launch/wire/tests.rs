//! What is written is read again as it was, and nothing else is.

use super::*;

fn grant(path: &str) -> PathGrant {
    PathGrant { path: path.into(), identity: FileId { device: 7, inode: path.len() as u64 } }
}

fn order() -> Order {
    Order {
        plan: vec![
            Step {
                joiner: None,
                commands: vec![LaunchCommand {
                    program: "/bin/true".into(),
                    identity: FileId { device: 1, inode: u64::MAX },
                    argv: vec!["true".into(), OsString::from_vec(vec![0xff, b' ']), OsString::new()],
                    redirects: vec![Redirect::StderrToStdout, Redirect::StdoutToNull],
                }],
            },
            Step { joiner: Some(Joiner::Or), commands: Vec::new() },
        ],
        environment: vec![("A".into(), "b=c".into())],
        cwd_path: "/srv/app".into(),
        hold: SandboxRequest {
            level: Containment::Full,
            network: Network::Loopback,
            read_only: vec![grant("/nix")],
            read_write: vec![grant("/srv/app")],
            protected: vec![
                ProtectedPath {
                    path: "/srv/app/.git/config".into(),
                    stand_in: StandIn::File(b"# none\n".into()),
                },
                ProtectedPath { path: "/srv/app/.git/hooks".into(), stand_in: StandIn::Folder },
            ],
            lacks_protected: true,
            closed: vec![
                HiddenPath { path: "/srv/app/.env".into(), reads_blank: true },
                HiddenPath { path: "/srv/app/key.pem".into(), reads_blank: false },
            ],
            lacks_closed: true,
            home: grant("/home/private"),
            inner: InnerSandboxes::Allowed,
            set_group_id: SetGroupId::Allowed,
            changes: FolderChanges::Discarded,
            network_group: Some("app local user".to_owned()),
        },
        limits: ProcessLimits {
            memory_bytes: None,
            job_memory_bytes: Some(3 << 30),
            processes: Some(512),
            file_bytes: Some(0),
            open_files: 1024,
        },
        pins: vec![Pin {
            path: "/srv/app/.git".into(),
            read_only: false,
            stand_in: Some(StandIn::File(b"x".into())),
        }],
        kept: Some(KeeperOrder {
            has_input: true,
            terminal: Some(TerminalSize { rows: 24, columns: u16::MAX }),
            ring_bytes: 8 << 20,
            is_durable: false,
            max_time_ms: u64::MAX,
            temporary: Some("a1b2".into()),
        }),
    }
}

#[test]
fn an_order_arrives_as_it_was_sent() {
    let sent = order();
    let bytes = sent.encode();
    assert_eq!(bytes[..8], ((bytes.len() - 8) as u64).to_le_bytes());
    assert_eq!(Order::decode(&bytes[8..]), Ok(sent));
}

#[test]
fn every_shortened_or_changed_order_is_read_without_a_panic() {
    let bytes = order().encode();
    for length in 0..bytes.len() - 8 {
        assert_eq!(Order::decode(&bytes[8..8 + length]), Err(WireError), "{length}");
    }
    for at in 8..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0xff;
        let _ = Order::decode(&changed[8..]);
    }
}

#[test]
fn a_head_arrives_as_it_was_sent_or_not_at_all() {
    for kind in [Kind::Job, Kind::JobWithInput, Kind::Kept, Kind::Adopted(7)] {
        let placeholders = vec!["hooks".into(), "config".into()];
        let network_group = Some("a b".to_owned());
        let sent = Head {
            level: Containment::Full,
            network: Network::None,
            network_group,
            kind,
            changes: FolderChanges::Discarded,
            placeholders,
        };
        let bytes = sent.encode();
        assert_eq!(Head::decode(&bytes[..bytes.len() - 1]), Err(WireError));
        assert_eq!(Head::decode(&bytes), Ok(sent));
    }
}

#[test]
fn an_adoption_arrives_as_it_was_sent_or_not_at_all() {
    for active in [None, Some(0), Some(1)] {
        let sent = Adoption {
            kept: order().kept.expect("it has one"),
            ring: RingPosition {
                active,
                offset: 1,
                generation: 2,
                stdout_bytes: 3,
                stderr_bytes: 4,
                lost_bytes: 5,
            },
        };
        let bytes = sent.encode();
        for length in 0..bytes.len() - 8 {
            assert_eq!(Adoption::decode(&bytes[8..8 + length]), Err(WireError), "{length}");
        }
        assert_eq!(Adoption::decode(&bytes[8..]), Ok(sent));
    }
}

#[test]
fn a_report_arrives_as_it_was_sent() {
    let step = LaunchError::Step { step: "landlock".to_owned(), reason: "no".to_owned() };
    for sent in [
        Report::Running {
            level: Containment::Partial,
            network: Network::None,
            degraded: true,
            layers: 5,
            open: 1 << 20,
        },
        Report::Failed(step),
        Report::Failed(LaunchError::ProgramChanged("/bin/x".into())),
        Report::Ended { exit_code: Some(-1), signal: None, left_killed: 3, memory_excess: None },
        Report::Ended {
            exit_code: None,
            signal: Some(9),
            left_killed: 0,
            memory_excess: Some(MemoryExcess { limit: 7, taken: 8 }),
        },
        Report::Adopted { process_id: 77 },
    ] {
        assert_eq!(Report::decode(&sent.encode()[8..]), Ok(sent));
    }
}

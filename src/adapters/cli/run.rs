//! From the process's arguments to a command, and from its result to the exit code.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use bailiwick_contract::Failure;

use super::args::{Arguments, BundleArgs, Command, PolicyCommand, ScreenCommand, Shared};
use super::call::Words;
use super::printer::{self, Printer, Report};
use super::{
    approve, bundle, call, client, command_policy, completions, config, connect, definition, doctor, history,
    man, mcp, policy, policy_learn, policy_replay, policy_untrusted, policy_why, processes, scope, screen,
    service, setup, start, status, token, tools, topics, try_folder, tunnel, undo, uninstall,
};
use crate::installation::home::Home;
use crate::tunnels::keeper;

/// Runs the command that the process's arguments name.
pub fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some((shared, args)) = mcp::usual_words(&words) {
        return finish(
            Printer { json: false },
            Home::find(shared.config.as_deref()).and_then(|home| mcp::run(&home, args)).map(|()| None),
        );
    }
    if let Some(code) = keeper::serve_if_asked(&words, |line| Printer { json: false }.talk(line)) {
        return code;
    }
    if let Some(words) = completions::asked(&words) {
        Printer { json: false }.data(&completions::values(&words));
        return ExitCode::SUCCESS;
    }
    if let Some(page) = topics::asked(&words) {
        Printer { json: false }.help(&page);
        return ExitCode::SUCCESS;
    }
    match definition::parse(&words) {
        Ok(arguments) => run(arguments),
        Err(error) => usage(&words, &error),
    }
}

fn run(arguments: Arguments) -> ExitCode {
    let Arguments { shared, command } = arguments;
    let printer = Printer { json: shared.json };
    printer::use_color(shared.color);
    match command.unwrap_or(Command::Status) {
        Command::Call(args) => match call::run(&shared, args.rest) {
            Ok((printer, report)) => finish(printer, Ok(Some(report))),
            Err((printer, failure)) => finish(printer, Err(failure)),
        },
        Command::Policy(PolicyCommand::Explain(args)) => {
            let printer = Printer { json: shared.json || call::wants_json(&args.rest) };
            finish(printer, Words::sort(args.rest).and_then(|words| policy::run(&shared, words)).map(Some))
        }
        Command::Policy(command) => {
            let home = Home::find(shared.config.as_deref());
            finish(
                printer,
                home.and_then(|home| match command {
                    PolicyCommand::Explain(_) => unreachable!("it reads its own words"),
                    PolicyCommand::Test(args) if args.against_history => policy_replay::run(&home, &args),
                    PolicyCommand::Test(args) => command_policy::test(&home, &args),
                    PolicyCommand::Why(args) => policy_why::run(&home, &args),
                    PolicyCommand::Untrusted(args) => policy_untrusted::run(&home, &args),
                    PolicyCommand::Learn(args) => policy_learn::run(&home, printer, &args),
                })
                .map(Some),
            )
        }
        other => finish(printer, at_home(&shared, printer, other)),
    }
}

/// Runs a command that works on an installation.
fn at_home(shared: &Shared, printer: Printer, command: Command) -> Result<Option<Report>, Failure> {
    let home = || Home::find(shared.config.as_deref());
    match command {
        Command::Try(args) => try_folder::run(printer, &args.folder).map(Some),
        Command::Setup(args) => setup::run(
            &home()?.dry_run(args.dry_run),
            printer,
            args.folder.as_deref(),
            &args.how,
            &args.clients,
        )
        .map(Some),
        Command::Here(args) => {
            setup::run(&home()?, printer, Some(Path::new(".")), &args.how, &args.clients).map(Some)
        }
        Command::Serve(args) => start::run(home()?, printer, &args).map(|()| None),
        Command::Mcp(args) => mcp::run(&home()?, args).map(|()| None),
        Command::Status => status::run(&home()?, shared.verbose).map(Some),
        Command::Doctor(args) if args.report.is_some() || args.inspect.is_some() => {
            bundle::run(&home()?, &BundleArgs { out: args.report, inspect: args.inspect }).map(Some)
        }
        Command::Doctor(args) => doctor::run(&home()?, printer, &args, shared.verbose).map(Some),
        Command::Bundle(args) => bundle::run(&home()?, &args).map(Some),
        Command::Service(command) => service::run(&home()?, printer, &command),
        Command::Approve(args) => approve::run(&home()?, printer, &args).map(Some),
        Command::Watch(args) => history::watch(&home()?, printer, &args.only).map(|()| None),
        Command::Log(args) => history::run(&home()?, printer, &args),
        Command::Ps(args) => processes::run(&home()?, printer, args),
        Command::Scope(command) => scope::run(&home()?, printer, &command).map(Some),
        Command::Screen(ScreenCommand::Status) => screen::status(&home()?).map(Some),
        Command::Token(command) => token::run(&home()?, printer, &command).map(Some),
        Command::Tools(args) => tools::run(&home()?, &args).map(Some),
        Command::Config(command) => config::run(&home()?, printer, &command).map(Some),
        Command::Undo(args) => undo::run(&home()?, printer, &args).map(Some),
        Command::Uninstall(args) => uninstall::run(&home()?, printer, &args).map(Some),
        Command::Client(command) => client::run(&home()?, printer, &command).map(Some),
        Command::Connect(args) => connect::run(&home()?, printer, &args).map(Some),
        Command::Tunnel(command) => tunnel::run(&home()?, printer, &command),
        Command::SelfTest => doctor::prove(&home()?, printer).map(Some),
        Command::Completions(args) => Ok(Some(completions::run(args.shell))),
        Command::Man(args) => man::run(&args.folder).map(Some),
        Command::Call(_) | Command::Policy(_) => unreachable!("these read their own words"),
    }
}

fn finish(printer: Printer, result: Result<Option<Report>, Failure>) -> ExitCode {
    ExitCode::from(match result {
        Ok(Some(report)) => printer.report(&report),
        Ok(None) => 0,
        Err(failure) => printer.failure(&failure),
    })
}

/// Help and version go to standard output; a wrong usage is said as the parser says it.
fn usage(words: &[OsString], error: &clap::Error) -> ExitCode {
    let wants_json = words.iter().any(|word| word == "--json");
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            Printer { json: false }.help(&error.to_string());
            ExitCode::SUCCESS
        }
        _ if wants_json => {
            let text = error.to_string();
            let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let failure = Failure::invalid("arguments", message);
            let failure = suggestions(error).into_iter().fold(failure, Failure::hint);
            finish(Printer { json: true }, Err(failure))
        }
        _ => {
            Printer { json: false }.talk(error.to_string().trim_end());
            ExitCode::from(2)
        }
    }
}

/// What the parser takes a wrong word to mean.
fn suggestions(error: &clap::Error) -> Vec<String> {
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let meant = kinds.iter().filter_map(|kind| error.get(*kind)).flat_map(|value| match value {
        ContextValue::String(word) => vec![word.clone()],
        ContextValue::Strings(words) => words.clone(),
        _ => Vec::new(),
    });
    meant.map(|word| format!("Did you mean `{word}`?")).collect()
}

-- Schema 1. Migrations are append-only: a released file is never changed, a new one is added.

-- One row per moment of a request (and per act of the history itself). `seq` has no gaps.
CREATE TABLE events (
    seq         INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL,
    kind        INTEGER NOT NULL,
    at_ms       INTEGER NOT NULL,
    duration_us INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,
    has_effect  INTEGER NOT NULL,
    machine     TEXT,
    caller      TEXT,
    client      TEXT,
    session     TEXT,
    transport   TEXT,
    scope       TEXT    NOT NULL,
    op          TEXT,
    target      TEXT,
    capability  TEXT,
    stage       TEXT,
    rule        TEXT,
    code        TEXT,
    summary     TEXT,
    error       TEXT,
    template    TEXT,
    hash        BLOB    NOT NULL
) STRICT;

-- Ids are ULIDs: they sort by the time of the request. The one index that every row pays for.
CREATE INDEX events_by_scope ON events (scope, id, kind);
-- Failures are rare; only they pay for this one.
CREATE INDEX events_failed ON events (scope, id) WHERE code IS NOT NULL AND kind = 2;

-- Facts about the store: its id.
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Retention opens the gate up to a row within its transaction, and shuts it again.
CREATE TABLE gate (through INTEGER NOT NULL) STRICT;
INSERT INTO gate VALUES (0);

CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'the history is append-only');
END;

CREATE TRIGGER events_are_never_removed BEFORE DELETE ON events
WHEN OLD.seq > (SELECT through FROM gate)
BEGIN
    SELECT RAISE(ABORT, 'the history is append-only');
END;

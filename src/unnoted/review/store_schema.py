"""The tables of a review's file.

`acts` and `decisions` are the log of what was said: rows are added, never changed and never removed.
`standing` and two columns of `items` follow from the log; a queue of 200,000 cannot add up a log each time.
"""

FORMAT = 1
"""Raised when a file of today could no longer be read."""

TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE documents (
  id TEXT PRIMARY KEY,
  position INTEGER NOT NULL UNIQUE,
  record TEXT NOT NULL                -- the document as a line of unnoted's own format
);

CREATE TABLE relations (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  labelled INTEGER NOT NULL,          -- how many labels of it there are
  missing REAL, low REAL, high REAL   -- how many more are thought to hold
) WITHOUT ROWID;

CREATE TABLE type_pairs (             -- how often a relation is labelled between two types of entities
  head_type TEXT NOT NULL, tail_type TEXT NOT NULL, relation TEXT NOT NULL, labelled INTEGER NOT NULL,
  PRIMARY KEY (head_type, tail_type, relation)
) WITHOUT ROWID;

CREATE TABLE examples (               -- labelled facts that show what a relation means
  relation TEXT NOT NULL, position INTEGER NOT NULL, document TEXT NOT NULL,
  head_name TEXT NOT NULL, tail_name TEXT NOT NULL, words TEXT NOT NULL,
  PRIMARY KEY (relation, position)
) WITHOUT ROWID;

CREATE TABLE items (
  id INTEGER PRIMARY KEY,
  document TEXT NOT NULL REFERENCES documents,
  head INTEGER NOT NULL, tail INTEGER NOT NULL, relation TEXT NOT NULL REFERENCES relations,
  head_name TEXT NOT NULL, tail_name TEXT NOT NULL,
  probability REAL,                   -- that the fact holds; NULL where nothing says
  score REAL NOT NULL,                -- the probability, or the confidence in its place
  evidence TEXT NOT NULL, rule TEXT,
  labelled INTEGER NOT NULL,          -- a labelled fact that looks wrong
  proposed INTEGER NOT NULL,          -- by the model; 0: added by a person, or kept from a round before
  model TEXT,                         -- what judged in that round; NULL: what judges now, or nothing
  state TEXT NOT NULL DEFAULT 'open',
  last_act INTEGER NOT NULL DEFAULT 0,
  by_score INTEGER NOT NULL, by_document INTEGER NOT NULL, by_random INTEGER NOT NULL,
  UNIQUE (document, head, tail, relation)
);

CREATE TABLE acts (                   -- one key press, or what comes to the same
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  reviewer TEXT NOT NULL,
  at TEXT NOT NULL,                   -- UTC
  key TEXT NOT NULL UNIQUE,           -- chosen by the browser: an act that is sent twice counts once
  stream TEXT NOT NULL,               -- the order in which the reviewer saw the queue
  filtered INTEGER NOT NULL,          -- whether a filter was on
  undoes INTEGER REFERENCES acts
);

CREATE TABLE decisions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  act INTEGER NOT NULL REFERENCES acts,
  item INTEGER NOT NULL REFERENCES items,
  verdict TEXT NOT NULL
);

CREATE TABLE standing (               -- what each reviewer says last
  item INTEGER NOT NULL REFERENCES items,
  reviewer TEXT NOT NULL,
  verdict TEXT NOT NULL,
  act INTEGER NOT NULL REFERENCES acts,
  PRIMARY KEY (item, reviewer)
) WITHOUT ROWID;
"""

INDEXES = """
CREATE INDEX items_by_score ON items (by_score);
CREATE INDEX items_by_document ON items (by_document);
CREATE INDEX items_by_random ON items (by_random);
CREATE INDEX items_relation ON items (relation, by_score);
CREATE INDEX items_state ON items (state, proposed);
CREATE INDEX items_last_act ON items (last_act);
CREATE INDEX items_apart ON items (labelled, proposed, state) WHERE labelled OR NOT proposed;
CREATE INDEX acts_reviewer ON acts (reviewer);
CREATE INDEX acts_undoes ON acts (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX decisions_act ON decisions (act);
CREATE INDEX decisions_item ON decisions (item);
CREATE INDEX standing_reviewer ON standing (reviewer, verdict);
"""

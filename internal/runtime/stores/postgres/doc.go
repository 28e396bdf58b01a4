// Package postgres keeps the objects of a shared state in a table of PostgreSQL.
//
// Only this package uses the library for PostgreSQL. A connection string comes in, and
// a sharedlog.Store goes out. Each call is one short transaction, and no call relies on
// the state of a session, so that connection poolers are harmless.
package postgres

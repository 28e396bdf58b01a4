// Package postgres keeps the objects of a shared state in a table of PostgreSQL.
//
// It alone knows the library for PostgreSQL. A connection string comes in, and a
// sharedlog.Store goes out. Each call is one short transaction, with nothing kept in
// the session, so that poolers in between are harmless.
package postgres

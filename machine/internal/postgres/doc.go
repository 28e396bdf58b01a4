// Package postgres has the kinds postgres_database and postgres_role: it runs the machine's own psql as the
// user postgres, who is known to the server by its local socket, so that no password is needed.
package postgres

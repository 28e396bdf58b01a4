// Package places runs images where they are to run: here, or on the host that the
// settings name. Specs come in and go to a runner; connections are made when they
// are first needed, and again when they are lost. It owns what becomes of an
// invocation whose connection is lost: a query is asked again, an action is adopted.
package places

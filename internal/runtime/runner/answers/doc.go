// Package answers reads what images print, strictly: bytes come in, the answers of the
// protocol go out, or the first mistake in them. It keeps nothing.
package answers

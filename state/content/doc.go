// Package content is what a state file holds: the entries of resources, their unsettled
// actions, outputs, artifacts and runs, as values. It reads and writes their bytes, upgrades
// those of earlier formats, and masks what is sensitive. Bytes or a Snapshot come in, and a
// Snapshot or bytes go out; package state stores them, and changes them by a journal.
package content

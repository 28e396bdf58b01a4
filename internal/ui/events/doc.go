// Package events is the tool's output for programs: what a command does, as one JSON
// object a line. It owns the types of events and the stream. In comes what plan and
// apply report, out go lines to readers that may be slow, dead, or not there yet.
// docs/json.md describes them for those who read them.
package events

// Package events is deployster's output for programs: what a command does, as one JSON
// object a line. It owns the types of events and the stream. The events of plan and apply
// come in; lines go out to readers that may be slow, gone, or not connected yet.
// docs/json.md describes them for users.
package events

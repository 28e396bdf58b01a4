// Package refresh owns who is to be told that something he subscribes was acted on. What
// a resource subscribes to, its entry and who acts come in; whom it owes a notification
// goes out. It compares two numbers of the state file, so that a crash loses nothing: the
// serial of the run that acted on it last, and the one that the subscriber has seen.
package refresh

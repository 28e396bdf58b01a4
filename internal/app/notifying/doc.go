// Package notifying notifies images of notify blocks of applies and watches. Events and notify
// blocks come in; notifications go out by a Sender, each block in a goroutine of its own, which
// owns the order of its events. It never delays a run but at its end, by at most Patience, and
// never fails one: what was not sent is a warning. Secrets are masked when something is sent, so
// that those are hidden too that became known after the event.
package notifying

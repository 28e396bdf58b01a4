// Package repair says which steps of a plan only bring back what was recorded, and what
// may be done while nobody looks on. Steps, entries and what is approved come in; a
// selection to plan and what is refused, with the reason, go out.
package repair

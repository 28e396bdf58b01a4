// Package repair reports which steps of a plan only restore what was recorded, and which steps
// may run unattended. It takes steps, entries and the approved kinds of change, and returns
// a selection to plan and the refused steps, with the reasons.
package repair

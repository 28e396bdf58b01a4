// Package expand makes the resources of a manifest out of its blocks: it has every
// for_each and count evaluated, fills in the settings, finds the edges between resources,
// checks moved and removed blocks, and tries all expressions with nothing known, so that
// mistakes are found before anything runs. In goes a decl.Tree; out come Instances, which
// begin anew when more is known of what was pending.
package expand

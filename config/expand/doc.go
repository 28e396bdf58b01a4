// Package expand creates the resources of a manifest from its blocks: it evaluates every
// for_each and count, fills in the settings, finds the edges between resources, checks moved
// and removed blocks, and evaluates all expressions with unknown states, so that errors are
// found before anything runs. Its input is a decl.Tree; its results are Instances. When more
// is known of pending blocks, it creates new Instances from the start.
package expand

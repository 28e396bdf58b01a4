// Package ignore knows what lifecycle.ignore_changes does: which parts of a config keep their
// last recorded values. Its input is Rules, which package decl decodes, a config, and the
// config that was recorded last; its output is the config with the parts that are kept.
package ignore

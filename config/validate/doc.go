// Package validate finds the errors in declarations that do not depend on any state:
// references to undeclared names, cycles, values that are needed before they can be known.
// It also resolves the names in dependencies and depends_on, and records in the tree which
// values depend on the state of a resource. Its input is a module of decl; its results
// are diagnostics.
package validate

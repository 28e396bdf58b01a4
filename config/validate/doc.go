// Package validate finds what is wrong with declarations whatever the world is like:
// references to nothing, circles, values that are needed before they can be known. It
// also resolves what dependencies and depends_on name, and finds out which values need
// the state of a resource, which it writes into the tree. In goes a module of
// decl; out come diagnostics.
package validate

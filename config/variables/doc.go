// Package variables gives values to variables: what each accepts and the inputs come in,
// from flags, files, the environment or a plan; values go out, with where they come from,
// and errors name the place of the part that does not fit. It reads no blocks and
// evaluates no references.
package variables

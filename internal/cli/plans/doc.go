// Package plans has the commands for saved plans: `show`, `sign` and `graph`, and the flags of what a saved plan must
// be. The engine of a command comes in; what is printed, or a signed plan, goes out.
package plans

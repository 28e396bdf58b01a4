// Package savedplan is the plans that commands save and read: their files, signed and
// encrypted, what an operator demands of a plan before it is applied, and whether it fits a
// state. A workspace with paths comes in; plans, their signatures and errors go out.
package savedplan

// Package transfer brings entries of the state of a command to the state of another project: on
// request, for a removed block with to, and to finish what an earlier command began. It locks all
// states that take part in the order of their names. A workspace and the place of its state come
// in; the locked state goes out, with the reasons why entries stay where they are.
package transfer

// Package digest makes the id of a plan: the hash of its content. The plan comes in as
// values that can be encoded, with its resources apart; a hexadecimal text goes out.
package digest

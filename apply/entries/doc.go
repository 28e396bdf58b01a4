// Package entries makes the entries of the state that an apply records: the one that a first action
// begins, and the one of an object that was seen to be VALID. A step, its input and what its image
// answered come in; the entry goes out, and whether it differs from the recorded one. The journal
// is the caller's.
package entries

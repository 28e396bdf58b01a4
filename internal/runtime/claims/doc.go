// Package claims keeps, on a machine, what each state has declared there: the objects of types that can list
// what exists, and its exclusive sets. So one state does not destroy what another has, and two states never
// have sets that overlap. A record comes in, the records of other states go out.
package claims

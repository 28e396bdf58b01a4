// Package match decides which recorded object each declared resource means.
//
// An address names a resource in a manifest; it does not name the object that the
// resource stands for. A block can be renamed, and a list can lose an element in
// its middle: the objects stay what they are, under other addresses. So before
// any image is queried, Match compares entries and declared resources by the
// identity of their objects, and Order puts what is destroyed before what is
// created of the same kind. Both take values and return values.
//
// The rules, each a function of its own:
//
//	sameThing     equal identity, at any address: a move
//	otherAround   equal but for env, network or read-only plugs, at any address: a move
//	otherThing    the same address and another identity: a replacement
//	unchanged     the same address and an equal config, where the identity is unclear
//	guess         another address and an equal config, where the identity is unclear
//	sameAddress   a resource and an entry that are left pair by address
//	butIgnored    equal identity but for ignored values, where only two are left: a move
//	owner         the object of an entry that is left over or replaced, if it is the object
//	              of a declared resource, is forgotten and never destroyed
//	lateFirst     an end waits for the identities that are known only in apply
//	endsFirst     what is destroyed of a kind goes before what begins of that kind
package match

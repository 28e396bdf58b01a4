// Package match decides which recorded thing each declared resource means.
//
// An address names a resource in a manifest; it does not name the thing that the
// resource stands for. A block can be renamed, and a list can lose an element in
// its middle: the things stay what they are, under other addresses. So before
// anything is asked, recorded entries and declared resources are held together
// by the identity of their things (Match), and what is destroyed is put before
// what is made of the same kind (Order). Both are values in, values out.
//
// The rules, each a function of its own:
//
//	sameThing     equal identity, at whatever address: a move
//	otherAround   equal but for env, network or what is only read, at whatever address: a move
//	otherThing    the same address and another identity: a replacement
//	unchanged     the same address and an equal config, where nobody can tell
//	guess         another address and an equal config, where nobody can tell
//	sameAddress   what is left pairs by address
//	butIgnored    equal identity but for what is ignored, where only two are left: a move
//	owner         what is left over, or replaced, and is the thing of a declared
//	              resource, is forgotten and never destroyed
//	lateFirst     an end waits for the identities that are known only in apply
//	endsFirst     what is destroyed of a kind goes before what begins of it
package match

// Package language describes the manifest language to hcl-lang: its blocks and attributes, which are those that
// the loader reads by, what each is for, its functions, and the configs of types by the schemas of their images.
// The declarations of the language, a page of descriptions and JSON Schemas come in; schemas of hcl-lang go out.
package language

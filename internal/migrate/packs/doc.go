// Package packs finds what the image of a provider has to have: blocks of Terraform come
// in, the command that builds the image goes out. Of the files, it reads only scripts.
package packs

// Package replace writes files so that nobody sees a half of them: a new file is written
// next to the old one, gets its owner, mode, access control list and labels, is checked and
// synced, and takes the old one's name. Kinds whose objects are files, or parts of files,
// give it a path and the new content.
package replace

// Package content has the kinds whose objects come from elsewhere as a whole: download, archive and
// tree. It fetches, checks and unpacks next to the place, and switches to what is complete.
package content

// Package links follows the symbolic links in the paths of plugs. A path comes in, and the directories that types may
// write to; where it leads goes out. Those who plan and hosts both do it here, so that both follow the same links.
package links

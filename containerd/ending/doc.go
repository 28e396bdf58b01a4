// Package ending finds out how the first process of a container ended, and what that left. Answers
// of a server and the files of a run come in; an exit code goes out, or why the end is unknown.
package ending

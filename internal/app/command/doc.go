// Package command owns what all stages of one command share: its workspace, the person who
// runs it, and its records. Events of planning, applying and of images come in; they go to the
// person, to programs and to the records.
package command

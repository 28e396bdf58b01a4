// Package planpage writes a plan as one page of HTML, for people who decide about it. It
// owns the page: page.html, page.css and page.js. A plan with the diffs of its steps
// comes in; out goes a file that needs no network and no other file, can be read without
// scripts, and executes nothing that the plan contains.
package planpage

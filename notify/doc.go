// Command notify is the image deployster/notify: it sends notifications as webhooks, as mail and as
// JSON in the form of Slack. It is one static program that serves all three, and knows package
// protocol alone. One message of docs/protocol.md comes in on stdin; exit code 0 means that it was sent.
package main

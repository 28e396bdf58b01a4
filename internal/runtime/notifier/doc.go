// Package notifier sends one notification by an image: of deployster's protocol, or one of
// Concourse's that can put, which is recognised by its files. A target with its config and a
// message come in; an error goes out if the message was not sent. It owns both messages and how
// long an image may take; when and how often something is sent is decided elsewhere.
package notifier

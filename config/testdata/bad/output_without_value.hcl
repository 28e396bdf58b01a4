output "o" {
}
# error 1:12 Missing required argument

# error 4:17 a string is required

output "a" {
  value = upper(["x"])
}

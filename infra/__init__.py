"""What runs beside the code: the development stack, images, settings of the broker. No distribution ships it."""

/* Nobody calls it. */
void zgemm_(void);
void zgemm_(void) {}

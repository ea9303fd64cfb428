// SPDX-License-Identifier: LGPL-2.1-or-later
package org.ltt.agent;

import java.util.concurrent.atomic.LongAdder;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;

/**
 * Records the messages of java.util.logging as the event lttng_jul:event, while a session records
 * it. No error of it reaches the program.
 */
public class LttLogHandler extends Handler {
	private static final Formatter FORMATTER = new SimpleFormatter();
	private final LongAdder count = new LongAdder();

	@Override
	public void publish(LogRecord record) {
		Events.JUL.seen(record.getLoggerName());
		if (!Events.JUL.isListened() || !isLoggable(record))
			return;
		try {
			String message = message(record), method = record.getSourceMethodName();
			Events.JUL.emit(Payload.begin()
						.text(message)
						.text(record.getLoggerName())
						.text(record.getSourceClassName())
						.text(method)
						.number(record.getMillis())
						.number(record.getLevel().intValue())
						.number(record.getThreadID()));
			count.increment();
		} catch (RuntimeException | LinkageError e) {
			// of a parameter's toString(), for example
		}
	}

	private static String message(LogRecord record) {
		Object[] parameters = record.getParameters();
		if (record.getResourceBundle() == null && (parameters == null || parameters.length == 0))
			return record.getMessage();
		return FORMATTER.formatMessage(record);
	}

	/** Messages that this handler has emitted. */
	public long getEventCount() {
		return count.sum();
	}

	@Override
	public void flush() {
	}

	@Override
	public void close() {
	}
}
